/**
 * Every change of a graph, as pure functions from document to document. They keep four things true: an edge never lacks an
 * end, an edge never crosses a container's border, keys are unique, and what a change does not name keeps its identity.
 */
import type { GraphDocument, GraphEdge, GraphNode, JsonObject, KindsByName, Point, Policy } from '../../../diagram';
import { settleGroups, withMembers } from './groups';
import { keysOf, uniqueKey, whyNotKey } from './keys';
import { literalFields, renameReferences } from './references';
import { type Ends, edgeOf, nodeOf, whyNotConnect, withBodies } from './walk';

export const EMPTY: GraphDocument = { schema: 1, nodes: [], edges: [] };

/** Ids are for machines: unguessable enough that two tabs never make the same. */
export const newId = (prefix: 'n' | 'e'): string => `${prefix}_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;

export interface NewNode {
  id: string;
  kind: string;
  position: Point;
  name?: string;
  key?: string;
  parent?: string | null;
  config?: JsonObject;
}

export function addNode(
  document: GraphDocument,
  { id, kind, position, name, key, parent = null, config = {} }: NewNode,
): GraphDocument {
  if (nodeOf(document, id)) return document;
  const home = parent !== null && nodeOf(document, parent) ? parent : null;
  const node: GraphNode = {
    id,
    key: uniqueKey(key ?? name ?? kind, keysOf(document)),
    name: name ?? '',
    kind,
    config,
    policy: {},
    parent: home,
    position,
  };
  return { ...document, nodes: [...document.nodes, node] };
}

export function connect(document: GraphDocument, ends: Ends, kinds: KindsByName): GraphDocument {
  if (whyNotConnect(document, ends, kinds) !== null) return document;
  return { ...document, edges: [...document.edges, makeEdge(ends)] };
}

const makeEdge = ({ source, port, target }: Ends): GraphEdge => ({ id: newId('e'), source, source_port: port, target });

/** Moves an end of an edge; the edge keeps its id. */
export function reconnect(document: GraphDocument, id: string, ends: Ends, kinds: KindsByName): GraphDocument {
  const edge = edgeOf(document, id);
  if (!edge) return document;
  const without = { ...document, edges: document.edges.filter((one) => one.id !== id) };
  if (whyNotConnect(without, ends, kinds) !== null) return document;
  const moved = { ...edge, source: ends.source, source_port: ends.port, target: ends.target };
  return { ...document, edges: document.edges.map((one) => (one.id === id ? moved : one)) };
}

/** Steps and notes to their new places. */
export function move(document: GraphDocument, places: ReadonlyMap<string, Point>): GraphDocument {
  let moved = false;
  const placed = <T extends { id: string; position: Point }>(thing: T): T => {
    const place = places.get(thing.id);
    if (!place || (place.x === thing.position.x && place.y === thing.position.y)) return thing;
    moved = true;
    return { ...thing, position: place };
  };
  const nodes = document.nodes.map(placed);
  const notes = document.notes?.map(placed);
  return moved ? { ...document, nodes, ...(notes ? { notes } : {}) } : document;
}

/** Takes nodes (with their bodies), edges, notes and groups (with their members) away, and every edge that would lack an end. */
export function remove(document: GraphDocument, ids: Iterable<string>): GraphDocument {
  const gone = withBodies(document, withMembers(document, ids));
  const nodes = document.nodes.filter((node) => !gone.has(node.id));
  const edges = document.edges.filter((edge) => !gone.has(edge.id) && !gone.has(edge.source) && !gone.has(edge.target));
  const notes = document.notes?.filter((note) => !gone.has(note.id));
  const isSame =
    nodes.length === document.nodes.length &&
    edges.length === document.edges.length &&
    notes?.length === document.notes?.length;
  return isSame ? document : settleGroups({ ...document, nodes, edges, ...(notes ? { notes } : {}) });
}

/** Takes nodes away and connects what came before each of them with what followed it. */
export function removeAndBridge(document: GraphDocument, ids: Iterable<string>, kinds: KindsByName): GraphDocument {
  let left = document;
  const groups = new Set(document.groups?.map((group) => group.id));
  for (const id of withMembers(document, ids)) {
    if (groups.has(id)) continue; // goes with the last of its steps
    left = nodeOf(left, id) ? remove(bridge(left, id, kinds), [id]) : remove(left, [id]);
  }
  return left;
}

function bridge(document: GraphDocument, id: string, kinds: KindsByName): GraphDocument {
  const entering = document.edges.filter((edge) => edge.target === id);
  const leaving = document.edges.filter((edge) => edge.source === id && edge.source_port !== 'error');
  let bridged = document;
  for (const before of entering) {
    for (const after of leaving) {
      bridged = connect(bridged, { source: before.source, port: before.source_port, target: after.target }, kinds);
    }
  }
  return bridged;
}

/** Puts a node into the middle of an edge: what the edge led to now follows the node. */
export function splice(document: GraphDocument, edgeId: string, nodeId: string, kinds: KindsByName): GraphDocument {
  const edge = edgeOf(document, edgeId);
  const node = nodeOf(document, nodeId);
  if (!edge || !node || edge.source === nodeId || edge.target === nodeId) return document;
  const port = kinds.get(node.kind)?.ports[0]?.name ?? 'out';
  const opened = { ...document, edges: document.edges.filter((one) => one.id !== edgeId) };
  const halfway = connect(opened, { source: edge.source, port: edge.source_port, target: nodeId }, kinds);
  if (halfway === opened) return document;
  if (!hasPorts(node, kinds)) return halfway;
  const whole = connect(halfway, { source: nodeId, port, target: edge.target }, kinds);
  return whole === halfway ? document : whole;
}

const hasPorts = (node: GraphNode, kinds: KindsByName): boolean => kinds.get(node.kind)?.ports.length !== 0;

/** Puts nodes into a container, or out of it (null). Edges that would cross the border are bridged in the old level. */
export function moveInto(
  document: GraphDocument,
  ids: readonly string[],
  parent: string | null,
  { places, kinds }: { places: ReadonlyMap<string, Point>; kinds: KindsByName },
): GraphDocument {
  const inside = withBodies(document, ids);
  const movers = ids.filter((id) => nodeOf(document, id)?.parent !== parent);
  if (movers.length === 0 || (parent !== null && (inside.has(parent) || !nodeOf(document, parent)))) {
    return move(document, places);
  }
  const going = new Set(movers);
  let left = document;
  for (const id of movers) {
    const outside = left.edges.filter(
      (e) => (e.source === id && !going.has(e.target)) || (e.target === id && !going.has(e.source)),
    );
    if (outside.length > 0)
      left = remove(
        bridge(left, id, kinds),
        outside.map((edge) => edge.id),
      );
  }
  const nodes = left.nodes.map((node) => (going.has(node.id) ? { ...node, parent } : node));
  const edges = left.edges.filter((edge) => going.has(edge.source) === going.has(edge.target));
  return settleGroups(move({ ...left, nodes, edges }, places));
}

function change(document: GraphDocument, id: string, patch: (node: GraphNode) => GraphNode): GraphDocument {
  const node = nodeOf(document, id);
  if (!node) return document;
  const changed = patch(node);
  return changed === node
    ? document
    : { ...document, nodes: document.nodes.map((one) => (one === node ? changed : one)) };
}

export const setName = (document: GraphDocument, id: string, name: string): GraphDocument =>
  change(document, id, (node) => (node.name === name ? node : { ...node, name }));

export const setConfig = (document: GraphDocument, id: string, config: JsonObject): GraphDocument =>
  change(document, id, (node) => ({ ...node, config }));

export const setPolicy = (document: GraphDocument, id: string, policy: Policy): GraphDocument =>
  change(document, id, (node) => ({ ...node, policy }));

/** Switches steps off, or on again. The start stays: without it nothing would run. */
export function setDisabled(
  document: GraphDocument,
  ids: ReadonlySet<string>,
  { disabled, kinds }: { disabled: boolean; kinds: KindsByName },
): GraphDocument {
  let changed = false;
  const nodes = document.nodes.map((node) => {
    const isOff = node.disabled === true;
    if (!ids.has(node.id) || isOff === disabled || kinds.get(node.kind)?.has_input === false) return node;
    changed = true;
    const { disabled: _, ...on } = node;
    return disabled ? { ...on, disabled } : on;
  });
  return changed ? { ...document, nodes } : document;
}

/** Keeps name, key, policy, place and edges; edges of ports that the new kind lacks go on from its first one. */
export function replaceKind(document: GraphDocument, id: string, kind: string, kinds: KindsByName): GraphDocument {
  const spec = kinds.get(kind);
  if (!spec || !nodeOf(document, id)) return document;
  const names = new Set([...spec.ports.map((port) => port.name), 'error']);
  const first = spec.ports[0]?.name;
  const inside = withBodies(document, [id]);
  inside.delete(id);
  const emptied = spec.execution === 'container' ? document : remove(document, inside);
  const edges = emptied.edges.flatMap((edge) => {
    if (edge.target === id && !spec.has_input) return [];
    if (edge.source !== id || names.has(edge.source_port)) return [edge];
    return first === undefined ? [] : [{ ...edge, source_port: first }];
  });
  return change({ ...emptied, edges: withoutTwins(edges) }, id, (node) => ({ ...node, kind, config: {} }));
}

function withoutTwins(edges: readonly GraphEdge[]): GraphEdge[] {
  const seen = new Set<string>();
  return edges.filter((edge) => {
    const ends = `${edge.source} ${edge.source_port} ${edge.target}`;
    return seen.has(ends) ? false : seen.add(ends);
  });
}

/** Renames a step's key; every expression that reads it follows. A key that cannot be is refused (same document). */
export function renameKey(document: GraphDocument, id: string, key: string, kinds: KindsByName): GraphDocument {
  const node = nodeOf(document, id);
  if (!node || node.key === key || whyNotKey(key, keysOf(document, id)) !== null) return document;
  const rename = (name: string): string => (name === node.key ? key : name);
  const nodes = document.nodes.map((one) => {
    const config = renameReferences(one.config, rename, literalFields(kinds.get(one.kind)));
    const policy = renameReferences(one.policy, rename); // `skip_if` and the limit's key are expressions
    if (one.id === id) return { ...one, key, config, policy };
    return config === one.config && policy === one.policy ? one : { ...one, config, policy };
  });
  return { ...document, nodes };
}
