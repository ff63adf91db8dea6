import type { Edge, Node } from '@xyflow/react';

import { describeLocally } from './describe';
import { childrenByParent, handlesOf, isContainer, portsById, sizesById } from './measure';
import { edgeLabel, edgesBySource, showsErrorPort } from './ports';
import { nodeSize } from './sizes';
import type { GraphDocument, GraphEdge, GraphNode, KindsByName, Port, StepKind } from './types';

export interface StepData extends Record<string, unknown> {
  node: GraphNode;
  kind: StepKind | undefined;
  ports: readonly Port[];
  errorPort: boolean;
  description: string;
  /** Names of the ports that an edge leaves by, one a line: a text, so that equal sets are equal. */
  usedPorts: string;
  /** Of a container: how many steps its body has. */
  bodySize: number;
}

export interface StepEdgeData extends Record<string, unknown> {
  label: string;
  error: boolean;
  /** Half of the target's height: an edge that goes back passes above its target, not through what stands between. */
  reach: number;
}

export type StepFlowNode = Node<StepData, 'step' | 'container'>;
export type StepFlowEdge = Edge<StepEdgeData, 'step'>;

/** What the server said of a node's config: its line, and its ports. */
export interface Description {
  description: string;
  ports: readonly Port[];
}

export interface FlowParts {
  nodes: StepFlowNode[];
  edges: StepFlowEdge[];
}

export interface FlowSources {
  kinds: KindsByName;
  descriptions?: ReadonlyMap<string, Description> | undefined;
}

type Selected = ReadonlySet<string>;

function samePorts(a: readonly Port[], b: readonly Port[]): boolean {
  const same = (port: Port, at: number) => port.name === b[at]?.name && port.title === b[at]?.title;
  return a === b || (a.length === b.length && a.every(same));
}

const SHOWN = ['node', 'kind', 'errorPort', 'description', 'bodySize', 'usedPorts'] as const;
const PLACED = ['type', 'parentId', 'width', 'height', 'selected', 'ariaLabel'] as const;

function keepNode(before: StepFlowNode | undefined, now: StepFlowNode): StepFlowNode {
  if (!before) return now;
  const isSame =
    SHOWN.every((name) => before.data[name] === now.data[name]) && samePorts(before.data.ports, now.data.ports);
  const data = isSame ? before.data : now.data;
  const stays =
    PLACED.every((name) => before[name] === now[name]) &&
    before.position.x === now.position.x &&
    before.position.y === now.position.y;
  return isSame && stays ? before : { ...now, data };
}

/** Makes React Flow's node of ours. */
function nodeMaker(graph: GraphDocument, { kinds, descriptions }: FlowSources, selected: Selected) {
  const children = childrenByParent(graph);
  const leaving = edgesBySource(graph);
  const ports = portsById(graph, kinds, descriptions);
  const sizes = sizesById(kinds, { children, ports });
  const make = (node: GraphNode, parent: string | null): StepFlowNode => {
    const kind = kinds.get(node.kind);
    const out = leaving.get(node.id);
    const bodySize = children.get(node.id)?.length ?? 0;
    const size = sizes.get(node.id) ?? nodeSize(1);
    const own = ports.get(node.id) ?? [];
    return {
      id: node.id,
      type: bodySize > 0 || isContainer(node, kinds) ? 'container' : 'step',
      position: node.position,
      ...(parent === null ? {} : { parentId: parent }),
      ...size,
      measured: size,
      handles: handlesOf({ size, ports: own, hasInput: kind?.has_input !== false }),
      selected: selected.has(node.id),
      ariaLabel: `${node.name || kind?.title || node.key}, ${kind?.title ?? node.kind}, key ${node.key}`,
      data: {
        node,
        kind,
        ports: own,
        usedPorts: (out ?? []).map((edge) => edge.source_port).join('\n'),
        errorPort: showsErrorPort(node, out),
        description: descriptions?.get(node.id)?.description || describeLocally(node, kind),
        bodySize,
      },
    };
  };
  return { children, make };
}

function toNodes(
  { children, make }: ReturnType<typeof nodeMaker>,
  previous: ReadonlyMap<string, StepFlowNode>,
): StepFlowNode[] {
  const made: StepFlowNode[] = [];
  const visit = (parent: string | null): void => {
    for (const node of children.get(parent) ?? []) {
      made.push(keepNode(previous.get(node.id), make(node, parent)));
      visit(node.id); // React Flow wants a parent before its children
    }
  };
  visit(null);
  return made;
}

interface EdgeParts {
  source: StepFlowNode | undefined;
  target: StepFlowNode | undefined;
  selected: Selected;
}

const nameOf = (end: StepFlowNode | undefined): string =>
  end?.data.node.name || end?.data.kind?.title || end?.data.node.key || '';

function toEdge(edge: GraphEdge, { source, target, selected }: EdgeParts): StepFlowEdge {
  const label = edgeLabel(edge, source?.data.ports ?? []);
  return {
    id: edge.id,
    type: 'step',
    source: edge.source,
    target: edge.target,
    sourceHandle: edge.source_port,
    selected: selected.has(edge.id),
    // Its ends can be taken hold of only while it is selected: on a short edge they would cover the + in its middle.
    reconnectable: selected.has(edge.id),
    ariaLabel: `Edge from ${nameOf(source)}${label ? ` by ${label}` : ''} to ${nameOf(target)}`,
    data: { label, error: edge.source_port === 'error', reach: (target?.height ?? 0) / 2 },
  };
}

const ENDS = ['source', 'target', 'sourceHandle', 'selected', 'ariaLabel'] as const;

const keepEdge = (before: StepFlowEdge | undefined, now: StepFlowEdge): StepFlowEdge =>
  before &&
  ENDS.every((name) => before[name] === now[name]) &&
  before.data?.label === now.data?.label &&
  before.data?.reach === now.data?.reach
    ? before
    : now;

const keepList = <T>(before: T[], now: T[]): T[] =>
  before.length === now.length && before.every((one, at) => one === now[at]) ? before : now;

/**
 * Turns documents into React Flow's nodes and edges. What did not change between two calls keeps its identity, so that
 * React Flow draws only what did.
 */
export function createToFlow(): (graph: GraphDocument, sources: FlowSources, selected: Selected) => FlowParts {
  let before: FlowParts = { nodes: [], edges: [] };
  return (graph, sources, selected) => {
    const known = new Map(before.nodes.map((node) => [node.id, node]));
    const nodes = toNodes(nodeMaker(graph, sources, selected), known);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const edgesById = new Map(before.edges.map((edge) => [edge.id, edge]));
    const edges = graph.edges
      .filter((edge) => byId.has(edge.source) && byId.has(edge.target))
      .map((edge) =>
        keepEdge(
          edgesById.get(edge.id),
          toEdge(edge, { source: byId.get(edge.source), target: byId.get(edge.target), selected }),
        ),
      );
    before = { nodes: keepList(before.nodes, nodes), edges: keepList(before.edges, edges) };
    return before;
  };
}
