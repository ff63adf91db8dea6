import { ContainerFrame } from './container-frame';
import { FlowEdge } from './flow-edge';
import { NodeCard } from './node-card';

/** Outside of every component: React Flow draws everything again when these change their identity. */
export const nodeTypes = { step: NodeCard, container: ContainerFrame };
export const edgeTypes = { step: FlowEdge };
