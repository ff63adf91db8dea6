import type { GraphDocument, GraphEdge, GraphNode, KindsByName } from '../../../diagram';

export const nodeOf = (document: GraphDocument, id: string): GraphNode | undefined =>
  document.nodes.find((node) => node.id === id);

export const edgeOf = (document: GraphDocument, id: string): GraphEdge | undefined =>
  document.edges.find((edge) => edge.id === id);

/** The ids with everything inside of the containers among them. */
export function withBodies(document: GraphDocument, ids: Iterable<string>): Set<string> {
  const found = new Set(ids);
  let grew = true;
  while (grew) {
    grew = false;
    for (const node of document.nodes) {
      if (node.parent !== null && found.has(node.parent) && !found.has(node.id)) {
        found.add(node.id);
        grew = true;
      }
    }
  }
  return found;
}

/** Every node that can be reached from `start` along edges, or against them; without the start itself. */
export function reachable(document: GraphDocument, start: string, way: 'down' | 'up'): Set<string> {
  const next = new Map<string, string[]>();
  for (const edge of document.edges) {
    const [from, to] = way === 'down' ? [edge.source, edge.target] : [edge.target, edge.source];
    const list = next.get(from);
    if (list) list.push(to);
    else next.set(from, [to]);
  }
  const found = new Set<string>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const id of next.get(at) ?? []) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(id);
    }
  }
  return found;
}

/** Whose outputs a node's expressions may read: what lies before it, and before each container around it. */
export function upstreamOf(document: GraphDocument, id: string): GraphNode[] {
  const seen = new Set<string>();
  for (let at = nodeOf(document, id); at; at = at.parent === null ? undefined : nodeOf(document, at.parent)) {
    for (const found of reachable(document, at.id, 'up')) seen.add(found);
  }
  return document.nodes.filter((node) => seen.has(node.id));
}

export interface Ends {
  source: string;
  port: string;
  target: string;
}

/** Why two steps cannot be connected, in a sentence; null where they can. */
export function whyNotConnect(
  document: GraphDocument,
  { source, port, target }: Ends,
  kinds: KindsByName,
): string | null {
  const from = nodeOf(document, source);
  const to = nodeOf(document, target);
  if (!from || !to) return 'One of the two steps is no longer there.';
  if (source === target) return 'A step cannot follow itself.';
  if (from.parent !== to.parent) return "An edge cannot cross a container's border.";
  if (kinds.get(to.kind)?.has_input === false)
    return `'${to.name || to.key}' begins the workflow; nothing comes before it.`;
  if (document.edges.some((e) => e.source === source && e.source_port === port && e.target === target)) {
    return 'They are connected already.';
  }
  if (reachable(document, target, 'down').has(source)) return 'That would close a circle, and a run would never end.';
  return null;
}
