import {
  type GraphDocument,
  type GraphEdge,
  type GraphGroup,
  type GraphNode,
  type GraphNote,
  type KindsByName,
  type Point,
  snap,
} from '../../../diagram';
import { formatJson, isObject, type JsonObject, parseJson } from '../../../lib/json';
import { newId } from './document';
import { groupsOf, newGroupId, settleGroups, withMembers } from './groups';
import { keysOf, uniqueKey } from './keys';
import { isNote, newNoteId, notesOf } from './notes';
import { literalFields, renameReferences } from './references';
import { nodeOf, whyNotConnect, withBodies } from './walk';

/** What the clipboard holds as plain JSON: readable, and the same across tabs and workflows. */
export interface Clip {
  pawl: 1;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** Edges that lead out of or into the copied nodes; pasted only with 'keep outside links'. */
  outside: readonly GraphEdge[];
  notes: readonly GraphNote[];
  groups: readonly GraphGroup[];
}

export function copy(document: GraphDocument, ids: Iterable<string>): Clip | null {
  const chosen = withMembers(document, ids);
  const taken = withBodies(document, chosen);
  const nodes = document.nodes.filter((node) => taken.has(node.id));
  const notes = notesOf(document).filter((note) => taken.has(note.id));
  if (nodes.length + notes.length === 0) return null;
  const roots = new Set(nodes.filter((node) => node.parent === null || !taken.has(node.parent)).map((node) => node.id));
  const edges = document.edges.filter((edge) => taken.has(edge.source) && taken.has(edge.target));
  const outside = document.edges.filter((edge) => roots.has(edge.source) !== roots.has(edge.target));
  return {
    pawl: 1,
    nodes,
    edges,
    outside: outside.filter((edge) => taken.has(edge.source) !== taken.has(edge.target)),
    notes,
    // A group comes along where all of it does.
    groups: groupsOf(document).filter((group) => group.members.every((member) => taken.has(member))),
  };
}

export const writeClip = (clip: Clip): string => formatJson(clip, 2);

const isNode = (value: unknown): value is GraphNode =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.key === 'string' &&
  typeof value.kind === 'string' &&
  isObject(value.position) &&
  typeof value.position.x === 'number' &&
  typeof value.position.y === 'number';

const isEdge = (value: unknown): value is GraphEdge =>
  isObject(value) && typeof value.source === 'string' && typeof value.target === 'string';

const isGroup = (value: unknown): value is GraphGroup =>
  isObject(value) && typeof value.id === 'string' && typeof value.name === 'string' && Array.isArray(value.members);

/** Reads a clip, or a whole graph document; null where the text is something else. */
export function readClip(text: string): Clip | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return null;
  }
  if (!isObject(value) || (value.pawl !== 1 && value.schema !== 1) || !Array.isArray(value.nodes)) return null;
  const nodes = (value.nodes as unknown[]).filter(isNode).map(complete);
  const notes = read(value.notes, isNote);
  if (nodes.length + notes.length === 0) return null;
  const [edges, outside] = [read(value.edges, isEdge), read(value.outside, isEdge)];
  return { pawl: 1, nodes, edges, outside, notes, groups: read(value.groups, isGroup) };
}

const read = <T>(list: unknown, is: (value: unknown) => value is T): T[] =>
  Array.isArray(list) ? (list as unknown[]).filter(is) : [];

const complete = (node: GraphNode): GraphNode => ({
  ...node,
  name: node.name ?? '',
  config: isObject(node.config) ? node.config : {},
  policy: node.policy ?? {},
  parent: node.parent ?? null,
});

export interface PasteWish {
  /** The top left corner of what is pasted; without it a bit beside the original. */
  at?: Point | undefined;
  parent?: string | null;
  keepOutside?: boolean;
  kinds: KindsByName;
}

export interface Pasted {
  document: GraphDocument;
  /** The new steps that do not stand inside of another new one, and the new notes: what gets selected. */
  ids: string[];
}

const BESIDE = 32;

/** Adds the clip with new ids and free keys; references among the pasted steps follow, others stay. */
export function paste(
  document: GraphDocument,
  clip: Clip,
  { at, parent = null, keepOutside = false, kinds }: PasteWish,
): Pasted {
  const ids = new Map(clip.nodes.map((node) => [node.id, newId('n')]));
  const keys = new Map<string, string>();
  const taken = keysOf(document);
  for (const node of clip.nodes) {
    const key = uniqueKey(node.key, taken);
    taken.add(key);
    keys.set(node.key, key);
  }
  for (const note of clip.notes) ids.set(note.id, newNoteId());
  const isRoot = (node: GraphNode): boolean => node.parent === null || !ids.has(node.parent);
  const shift = shiftOf([...clip.nodes.filter(isRoot), ...clip.notes], at);
  const nodes = clip.nodes.map((node) => ({
    ...node,
    id: ids.get(node.id) ?? newId('n'),
    key: keys.get(node.key) ?? node.key,
    config: renameReferences(
      node.config as JsonObject,
      (key) => keys.get(key) ?? key,
      literalFields(kinds.get(node.kind)),
    ),
    parent: isRoot(node) ? parent : (ids.get(node.parent ?? '') ?? null),
    position: isRoot(node) ? { x: snap(node.position.x + shift.x), y: snap(node.position.y + shift.y) } : node.position,
  }));
  const notes = clip.notes.map((note) => ({
    ...note,
    id: ids.get(note.id) ?? newNoteId(),
    // Notes lie on the whole graph; beside steps that go into a container they keep their own place.
    position: { x: snap(note.position.x + shift.x), y: snap(note.position.y + shift.y) },
  }));
  let pasted: GraphDocument = { ...document, nodes: [...document.nodes, ...nodes] };
  for (const edge of keepOutside ? [...clip.edges, ...clip.outside] : clip.edges)
    pasted = link(pasted, edge, { ids, kinds });
  const roots = nodes.filter((node) => node.parent === parent);
  return { document: withMargin(pasted, clip, { ids, notes }), ids: [...roots, ...notes].map(({ id }) => id) };
}

/** The clip's notes and groups; a document that has none gets no empty lists. */
function withMargin(
  document: GraphDocument,
  clip: Clip,
  { ids, notes }: { ids: ReadonlyMap<string, string>; notes: readonly GraphNote[] },
): GraphDocument {
  const groups = clip.groups.map((group) => ({
    ...group,
    id: newGroupId(),
    members: group.members.flatMap((member) => ids.get(member) ?? []),
  }));
  const noted = notes.length === 0 ? document : { ...document, notes: [...notesOf(document), ...notes] };
  return groups.length === 0 ? noted : settleGroups({ ...noted, groups: [...groupsOf(document), ...groups] });
}

function link(
  document: GraphDocument,
  edge: GraphEdge,
  { ids, kinds }: { ids: ReadonlyMap<string, string>; kinds: KindsByName },
): GraphDocument {
  const source = ids.get(edge.source) ?? edge.source;
  const target = ids.get(edge.target) ?? edge.target;
  const port = edge.source_port || 'out';
  if (!nodeOf(document, source) || !nodeOf(document, target)) return document;
  if (whyNotConnect(document, { source, port, target }, kinds) !== null) return document;
  return { ...document, edges: [...document.edges, { ...edge, id: newId('e'), source, source_port: port, target }] };
}

function shiftOf(roots: readonly { position: Point }[], at: Point | undefined): Point {
  if (!at) return { x: BESIDE, y: BESIDE };
  const left = Math.min(...roots.map((node) => node.position.x));
  const top = Math.min(...roots.map((node) => node.position.y));
  return { x: at.x - left, y: at.y - top };
}
