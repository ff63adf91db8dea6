import dagre from '@dagrejs/dagre';

import { childrenByParent, isContainer, portsById } from './measure';
import { containerSize, HEADER_HEIGHT, nodeSize, PADDING, type Size, snap } from './sizes';
import type { GraphDocument, GraphEdge, GraphNode, KindsByName, Point, Port } from './types';
import { wrapRows } from './wrap';

export { childrenByParent, isContainer } from './measure';

const GAP_ALONG = 56;
const GAP_ACROSS = 40;
/** Room for the words on the edges of a branch. */
const GAP_ALONG_BRANCH = 88;

/** True where two nodes of one level stand on the same spot: the graph was made by a program and never laid out. */
export function needsLayout(graph: GraphDocument): boolean {
  for (const level of childrenByParent(graph).values()) {
    const spots = new Set(level.map((node) => `${node.position?.x ?? 0}/${node.position?.y ?? 0}`));
    if (spots.size < level.length) return true;
  }
  return false;
}

interface Level {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  sizes: ReadonlyMap<string, Size>;
  ports: ReadonlyMap<string, readonly Port[]>;
}

export interface Box extends Size, Point {
  id: string;
}

/** Places one level from left to right with its top left corner at 0, 0. */
function placeLevel({ nodes, edges, sizes, ports }: Level): Box[] {
  const plan = new dagre.graphlib.Graph({ multigraph: true });
  const here = new Set(nodes.map((node) => node.id));
  const inside = edges.filter((edge) => here.has(edge.source) && here.has(edge.target));
  const ranksep = inside.some((edge) => edge.source_port !== 'out') ? GAP_ALONG_BRANCH : GAP_ALONG;
  plan.setGraph({ rankdir: 'LR', nodesep: GAP_ACROSS, ranksep, ranker: 'network-simplex' });
  plan.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) plan.setNode(node.id, { ...(sizes.get(node.id) ?? nodeSize(1)) });
  for (const edge of inside) plan.setEdge(edge.source, edge.target, {}, edge.id);
  dagre.layout(plan);
  const boxes = nodes.map(({ id }) => {
    const { x, y, width, height } = plan.node(id);
    return { id, x: x - width / 2, y: y - height / 2, width, height };
  });
  return wrapRows(inPortOrder(boxes, inside, ports), inside);
}

/** dagre knows no order of ports: where most branches would cross, the level is turned upside down. */
function inPortOrder(boxes: Box[], edges: readonly GraphEdge[], ports: Level['ports']): Box[] {
  const middle = new Map(boxes.map((box) => [box.id, box.y + box.height / 2]));
  const rank = (edge: GraphEdge) => {
    const at = ports.get(edge.source)?.findIndex((port) => port.name === edge.source_port) ?? -1;
    return at === -1 ? Number.MAX_SAFE_INTEGER : at;
  };
  let votes = 0;
  for (const [at, one] of edges.entries()) {
    for (const other of edges.slice(at + 1)) {
      if (one.source !== other.source || one.source_port === other.source_port) continue;
      const drawn = (middle.get(one.target) ?? 0) - (middle.get(other.target) ?? 0);
      votes += Math.sign(drawn) * Math.sign(rank(one) - rank(other));
    }
  }
  if (votes >= 0) return boxes;
  return boxes.map((box) => ({ ...box, y: -box.y - box.height }));
}

/** Places every node, innermost bodies first, so that each container is as large as its body. */
export function layOut(graph: GraphDocument, kinds: KindsByName): GraphDocument {
  const children = childrenByParent(graph);
  const ports = portsById(graph, kinds);
  const sizes = new Map<string, Size>();
  const places = new Map<string, Point>();
  const visit = (parent: string | null): void => {
    const nodes = children.get(parent) ?? [];
    for (const node of nodes) {
      if (!isContainer(node, kinds) && !children.has(node.id)) {
        sizes.set(node.id, nodeSize(ports.get(node.id)?.length ?? 1));
        continue;
      }
      visit(node.id);
      const body = children.get(node.id) ?? [];
      sizes.set(node.id, containerSize(body.map((child) => ({ ...places.get(child.id), ...sizes.get(child.id) }))));
    }
    const origin = parent === null ? { x: 0, y: 0 } : { x: PADDING, y: HEADER_HEIGHT + PADDING };
    for (const box of placeLevel({ nodes, edges: graph.edges, sizes, ports })) {
      places.set(box.id, { x: snap(box.x + origin.x), y: snap(box.y + origin.y) });
    }
  };
  visit(null);
  return { ...graph, nodes: graph.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position })) };
}
