import type { Edge, Node } from '@xyflow/react';

import { describeLocally } from './describe';
import { childrenByParent, isContainer } from './layout';
import { edgeLabel, edgesBySource, portsOf, showsErrorPort } from './ports';
import { containerSize, nodeSize, type Size } from './sizes';
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

export type StepFlowNode = Node<StepData, 'step' | 'container'>;
export type StepFlowEdge = Edge<{ label: string; error: boolean }, 'step'>;

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

const same = (a: readonly Port[], b: readonly Port[]): boolean =>
  a === b || (a.length === b.length && a.every((port, at) => port.name === b[at]?.name && port.title === b[at]?.title));

function sameData(a: StepData, b: StepData): boolean {
  return (
    a.node === b.node &&
    a.kind === b.kind &&
    a.errorPort === b.errorPort &&
    a.description === b.description &&
    a.bodySize === b.bodySize &&
    a.usedPorts === b.usedPorts &&
    same(a.ports, b.ports)
  );
}

function sameShape(a: StepFlowNode, b: StepFlowNode): boolean {
  return (
    a.type === b.type &&
    a.parentId === b.parentId &&
    a.position.x === b.position.x &&
    a.position.y === b.position.y &&
    a.width === b.width &&
    a.height === b.height &&
    a.selected === b.selected
  );
}

interface Level {
  graph: GraphDocument;
  sources: FlowSources;
  selected: ReadonlySet<string>;
}

function nodeMaker({
  graph,
  sources,
  selected,
}: Level): (previous: ReadonlyMap<string, StepFlowNode>) => StepFlowNode[] {
  const children = childrenByParent(graph);
  const leaving = edgesBySource(graph);
  const sizes = new Map<string, Size>();
  const portsById = new Map(
    graph.nodes.map((node) => [
      node.id,
      portsOf(sources.kinds.get(node.kind), {
        described: sources.descriptions?.get(node.id)?.ports,
        leaving: leaving.get(node.id),
      }),
    ]),
  );
  const measure = (node: GraphNode): Size => {
    const body = children.get(node.id) ?? [];
    const size =
      body.length > 0 || isContainer(node, sources.kinds)
        ? containerSize(body.map((child) => ({ ...child.position, ...measure(child) })))
        : nodeSize(portsById.get(node.id)?.length ?? 1);
    sizes.set(node.id, size);
    return size;
  };
  for (const node of children.get(null) ?? []) measure(node);

  const make = (node: GraphNode, parent: string | null): StepFlowNode => {
    const kind = sources.kinds.get(node.kind);
    const told = sources.descriptions?.get(node.id);
    const out = leaving.get(node.id);
    const body = children.get(node.id)?.length ?? 0;
    return {
      id: node.id,
      type: body > 0 || isContainer(node, sources.kinds) ? 'container' : 'step',
      position: node.position,
      ...(parent === null ? {} : { parentId: parent }),
      ...sizes.get(node.id),
      selected: selected.has(node.id),
      ariaLabel: `${node.name || kind?.title || node.key}, ${kind?.title ?? node.kind}, key ${node.key}`,
      data: {
        node,
        kind,
        ports: portsById.get(node.id) ?? [],
        usedPorts: (out ?? []).map((edge) => edge.source_port).join('\n'),
        errorPort: showsErrorPort(node, out),
        description: told?.description || describeLocally(node, kind),
        bodySize: body,
      },
    };
  };
  return (previous) => {
    const made: StepFlowNode[] = [];
    const visit = (parent: string | null): void => {
      for (const node of children.get(parent) ?? []) {
        made.push(keep(previous.get(node.id), make(node, parent)));
        visit(node.id); // React Flow wants a parent before its children
      }
    };
    visit(null);
    return made;
  };
}

function keep(before: StepFlowNode | undefined, now: StepFlowNode): StepFlowNode {
  if (!before) return now;
  const data = sameData(before.data, now.data) ? before.data : now.data;
  if (data === before.data && sameShape(before, now)) return before;
  return { ...before, ...now, data };
}

function makeEdge(edge: GraphEdge, ports: readonly Port[], selected: boolean): StepFlowEdge {
  return {
    id: edge.id,
    type: 'step',
    source: edge.source,
    target: edge.target,
    sourceHandle: edge.source_port,
    selected,
    data: { label: edgeLabel(edge, ports), error: edge.source_port === 'error' },
  };
}

const sameEdge = (a: StepFlowEdge, b: StepFlowEdge): boolean =>
  a.source === b.source &&
  a.target === b.target &&
  a.sourceHandle === b.sourceHandle &&
  a.selected === b.selected &&
  a.data?.label === b.data?.label;

/**
 * Turns documents into React Flow's nodes and edges. What did not change between two calls keeps its identity, so that
 * React Flow draws only what did.
 */
export function createToFlow(): (
  graph: GraphDocument,
  sources: FlowSources,
  selected: ReadonlySet<string>,
) => FlowParts {
  let before: FlowParts = { nodes: [], edges: [] };
  return (graph, sources, selected) => {
    const nodes = nodeMaker({ graph, sources, selected })(new Map(before.nodes.map((node) => [node.id, node])));
    const portsById = new Map(nodes.map((node) => [node.id, node.data.ports]));
    const edgesById = new Map(before.edges.map((edge) => [edge.id, edge]));
    const edges = graph.edges
      .filter((edge) => portsById.has(edge.source) && portsById.has(edge.target))
      .map((edge) => {
        const made = makeEdge(edge, portsById.get(edge.source) ?? [], selected.has(edge.id));
        const old = edgesById.get(edge.id);
        return old && sameEdge(old, made) ? old : made;
      });
    before = { nodes: keepList(before.nodes, nodes), edges: keepList(before.edges, edges) };
    return before;
  };
}

function keepList<T>(before: T[], now: T[]): T[] {
  return before.length === now.length && before.every((one, at) => one === now[at]) ? before : now;
}
