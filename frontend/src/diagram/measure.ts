import { type NodeHandle, Position } from '@xyflow/react';

import { edgesBySource, portsOf } from './ports';
import { containerSize, nodeSize, type Size } from './sizes';
import type { GraphDocument, GraphNode, KindsByName, Port } from './types';

type Children = ReadonlyMap<string | null, readonly GraphNode[]>;

/** Nodes by their container. A node whose container is gone counts as standing outside. */
export function childrenByParent(graph: GraphDocument): Children {
  const ids = new Set(graph.nodes.map((node) => node.id));
  const found = new Map<string | null, GraphNode[]>();
  for (const node of graph.nodes) {
    const parent = node.parent !== null && ids.has(node.parent) ? node.parent : null;
    const list = found.get(parent);
    if (list) list.push(node);
    else found.set(parent, [node]);
  }
  return found;
}

export const isContainer = (node: GraphNode, kinds: KindsByName): boolean =>
  kinds.get(node.kind)?.execution === 'container';

/** The ports of every node; `described` holds those that the server made of a node's own config. */
export function portsById(
  graph: GraphDocument,
  kinds: KindsByName,
  described?: ReadonlyMap<string, { ports: readonly Port[] }>,
): Map<string, readonly Port[]> {
  const leaving = edgesBySource(graph);
  return new Map(
    graph.nodes.map((node) => [
      node.id,
      portsOf(kinds.get(node.kind), { described: described?.get(node.id)?.ports, leaving: leaving.get(node.id) }),
    ]),
  );
}

interface Measured {
  children: Children;
  ports: ReadonlyMap<string, readonly Port[]>;
}

/** How large every node is drawn; a container as large as its body asks for. */
export function sizesById(kinds: KindsByName, { children, ports }: Measured): Map<string, Size> {
  const sizes = new Map<string, Size>();
  const measure = (node: GraphNode): Size => {
    const body = children.get(node.id) ?? [];
    const isFrame = body.length > 0 || isContainer(node, kinds);
    const size = isFrame
      ? containerSize(body.map((child) => ({ ...child.position, ...measure(child) })))
      : nodeSize(ports.get(node.id)?.length ?? 1);
    sizes.set(node.id, size);
    return size;
  };
  for (const node of children.get(null) ?? []) measure(node);
  return sizes;
}

export const PORT_REACH = 24;

interface PortPlaces {
  size: Size;
  ports: readonly Port[];
  hasInput: boolean;
}

/** Where the ports lie, so that edges of nodes that were never drawn (out of view) know their ends. */
export function handlesOf({ size, ports, hasInput }: PortPlaces): NodeHandle[] {
  const half = PORT_REACH / 2;
  const box = { width: PORT_REACH, height: PORT_REACH };
  const handles: NodeHandle[] = ports.map((port, at) => ({
    ...box,
    id: port.name,
    type: 'source',
    position: Position.Right,
    x: size.width - half,
    y: (size.height * (at + 1)) / (ports.length + 1) - half,
  }));
  handles.push({
    ...box,
    id: 'error',
    type: 'source',
    position: Position.Bottom,
    x: size.width / 2 - half,
    y: size.height - half,
  });
  if (hasInput) {
    handles.push({ ...box, id: null, type: 'target', position: Position.Left, x: -half, y: size.height / 2 - half });
  }
  return handles;
}
