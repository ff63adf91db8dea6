import { ContainerFrame } from './container-frame';
import { FlowEdge } from './flow-edge';
import { GroupFrame } from './group-frame';
import { NodeCard } from './node-card';
import { NoteCard } from './note-card';

/** Outside of every component: React Flow draws everything again when these change their identity. */
export const nodeTypes = { step: NodeCard, container: ContainerFrame, note: NoteCard, cluster: GroupFrame };
export const edgeTypes = { step: FlowEdge };
