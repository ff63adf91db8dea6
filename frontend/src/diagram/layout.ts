import dagre from '@dagrejs/dagre';

import { edgesBySource, portsOf } from './ports';
import { containerSize, HEADER_HEIGHT, nodeSize, PADDING, type Size, snap } from './sizes';
import type { GraphDocument, GraphEdge, GraphNode, KindsByName, Point } from './types';

const GAP_ALONG = 72;
const GAP_ACROSS = 40;
/** Room for the words on the edges of a branch. */
const GAP_ALONG_BRANCH = 104;

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
  origin: Point;
}

function placeLevel({ nodes, edges, sizes, origin }: Level): Map<string, Point> {
  const plan = new dagre.graphlib.Graph({ multigraph: true });
  const branches = edges.some((edge) => edge.source_port !== 'out');
  plan.setGraph({
    rankdir: 'LR',
    nodesep: GAP_ACROSS,
    ranksep: branches ? GAP_ALONG_BRANCH : GAP_ALONG,
    ranker: 'network-simplex',
  });
  plan.setDefaultEdgeLabel(() => ({}));
  const here = new Set(nodes.map((node) => node.id));
  for (const node of nodes) plan.setNode(node.id, { ...(sizes.get(node.id) ?? nodeSize(1)) });
  for (const edge of edges) {
    if (here.has(edge.source) && here.has(edge.target)) plan.setEdge(edge.source, edge.target, {}, edge.id);
  }
  dagre.layout(plan);
  return new Map(
    nodes.map((node) => {
      const { x, y, width, height } = plan.node(node.id);
      return [node.id, { x: snap(x - width / 2 + origin.x), y: snap(y - height / 2 + origin.y) }];
    }),
  );
}

/** Places every node, innermost bodies first, so that each container is as large as its body. */
export function layOut(graph: GraphDocument, kinds: KindsByName): GraphDocument {
  const children = childrenByParent(graph);
  const sizes = new Map<string, Size>();
  const places = new Map<string, Point>();
  const leaving = edgesBySource(graph);
  const visit = (parent: string | null): void => {
    const nodes = children.get(parent) ?? [];
    for (const node of nodes) {
      if (isContainer(node, kinds) || children.has(node.id)) {
        visit(node.id);
        sizes.set(
          node.id,
          containerSize(
            (children.get(node.id) ?? []).map((child) => ({ ...places.get(child.id), ...sizes.get(child.id) })),
          ),
        );
      } else {
        const ports = portsOf(kinds.get(node.kind), { leaving: leaving.get(node.id) });
        sizes.set(node.id, nodeSize(ports.length));
      }
    }
    const origin = parent === null ? { x: 0, y: 0 } : { x: PADDING, y: HEADER_HEIGHT + PADDING };
    for (const [id, place] of placeLevel({ nodes, edges: graph.edges, sizes, origin })) places.set(id, place);
  };
  visit(null);
  return { ...graph, nodes: graph.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position })) };
}
