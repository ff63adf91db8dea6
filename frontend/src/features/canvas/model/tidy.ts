import { type GraphDocument, type KindsByName, layOut, type Point, snap } from '../../../diagram';
import { withBodies } from './walk';

/**
 * Lays out the chosen steps alone, level by level, from the corner where they stood; the rest stays. With fewer than
 * two of them the whole graph.
 */
export function tidyUp(document: GraphDocument, ids: ReadonlySet<string>, kinds: KindsByName): GraphDocument {
  const chosen = document.nodes.filter((node) => ids.has(node.id));
  if (chosen.length < 2) return layOut(document, kinds);
  const all = withBodies(document, ids);
  const levels = new Map<string | null, string[]>();
  for (const node of chosen) {
    const isInside = node.parent !== null && all.has(node.parent); // tidied with its container
    if (!isInside) levels.set(node.parent, [...(levels.get(node.parent) ?? []), node.id]);
  }
  let tidied = document;
  for (const level of levels.values()) tidied = tidyLevel(tidied, level, kinds);
  return tidied;
}

function tidyLevel(document: GraphDocument, level: readonly string[], kinds: KindsByName): GraphDocument {
  const roots = new Set(level);
  const inside = withBodies(document, level);
  const nodes = document.nodes
    .filter((node) => inside.has(node.id))
    .map((node) => (roots.has(node.id) ? { ...node, parent: null } : node));
  const edges = document.edges.filter((edge) => inside.has(edge.source) && inside.has(edge.target));
  const laid = layOut({ schema: document.schema, nodes, edges }, kinds);
  const places = new Map(laid.nodes.map((node) => [node.id, node.position]));
  const from = cornerOf(nodes.filter((node) => roots.has(node.id)).map((node) => node.position));
  const to = cornerOf(laid.nodes.filter((node) => roots.has(node.id)).map((node) => node.position));
  const moved = document.nodes.map((node) => {
    const place = places.get(node.id);
    if (!place) return node;
    const position = roots.has(node.id)
      ? { x: snap(place.x + from.x - to.x), y: snap(place.y + from.y - to.y) }
      : place;
    return position.x === node.position.x && position.y === node.position.y ? node : { ...node, position };
  });
  return { ...document, nodes: moved };
}

const cornerOf = (places: readonly Point[]): Point => ({
  x: Math.min(...places.map((place) => place.x)),
  y: Math.min(...places.map((place) => place.y)),
});
