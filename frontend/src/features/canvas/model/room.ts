import type { GraphDocument, GraphNode, KindsByName, Point } from '../../../diagram';
import { GRID, NODE_HEIGHT, NODE_WIDTH, snap } from '../../../diagram';
import { move } from './document';
import { nodeOf, reachable } from './walk';

export const STEP_ALONG = NODE_WIDTH + 56;
const STEP_ACROSS = NODE_HEIGHT + 40;

const overlaps = (a: Point, b: Point): boolean =>
  Math.abs(a.x - b.x) < NODE_WIDTH + 4 * GRID && Math.abs(a.y - b.y) < NODE_HEIGHT + 4 * GRID;

/** A place near the wish, in that container, where no node stands: straight below where it is taken. */
export function freePlace(document: GraphDocument, wish: Point, parent: string | null): Point {
  const level = document.nodes.filter((node) => node.parent === parent);
  const place = { x: snap(wish.x), y: snap(wish.y) };
  if (parent !== null) {
    place.x = Math.max(place.x, 24);
    place.y = Math.max(place.y, 64);
  }
  while (level.some((node) => overlaps(node.position, place))) place.y += STEP_ACROSS;
  return place;
}

/** Where the next step after a node looks right. */
export function placeAfter(document: GraphDocument, node: GraphNode, width = NODE_WIDTH): Point {
  return freePlace(document, { x: node.position.x + width + 56, y: node.position.y }, node.parent);
}

/** Moves what follows an edge to the right where a node would not fit between its ends. */
export function makeRoom(document: GraphDocument, edgeId: string, width = NODE_WIDTH): GraphDocument {
  const edge = document.edges.find((one) => one.id === edgeId);
  const source = edge && nodeOf(document, edge.source);
  const target = edge && nodeOf(document, edge.target);
  if (!source || !target) return document;
  const missing = source.position.x + width + 56 + STEP_ALONG - target.position.x;
  if (missing <= 0) return document;
  const behind = reachable(document, target.id, 'down').add(target.id);
  const places = document.nodes
    .filter((node) => behind.has(node.id) && node.position.x >= target.position.x - STEP_ALONG)
    .map((node): [string, Point] => [node.id, { x: snap(node.position.x + missing), y: node.position.y }]);
  return move(document, new Map(places));
}

/** The nearest node in the direction of an arrow key: along edges first, then whatever stands there. */
export function neighbour(
  document: GraphDocument,
  from: string,
  way: 'left' | 'right' | 'up' | 'down',
  kinds: KindsByName,
): string | null {
  const node = nodeOf(document, from);
  if (!node) return null;
  if (way === 'right' || way === 'left') {
    const next = document.edges
      .filter((edge) => (way === 'right' ? edge.source === from : edge.target === from))
      .map((edge) => nodeOf(document, way === 'right' ? edge.target : edge.source))
      .filter((one) => one !== undefined);
    const nearest = closest(node, next);
    if (nearest) return nearest;
    if (way === 'right' && kinds.get(node.kind)?.execution === 'container') {
      return document.nodes.find((one) => one.parent === from)?.id ?? null;
    }
    return way === 'left' ? node.parent : null;
  }
  const sign = way === 'down' ? 1 : -1;
  return closest(
    node,
    document.nodes.filter((one) => one.parent === node.parent && (one.position.y - node.position.y) * sign > 0),
  );
}

function closest(from: GraphNode, others: readonly GraphNode[]): string | null {
  const far = (one: GraphNode) => Math.hypot(one.position.x - from.position.x, one.position.y - from.position.y);
  return [...others].sort((a, b) => far(a) - far(b))[0]?.id ?? null;
}
