/** What hands do on the canvas: each one change of the document with a label for undo. Commands, menus and drags call these. */

import { type GraphDocument, HEADER_HEIGHT, NODE_HEIGHT, NODE_WIDTH, PADDING, type Point, snap } from '../../diagram';
import { FIT } from './fit';
import type { Hands } from './hands';
import { type Clip, copy, paste, readClip, writeClip } from './model/clipboard';
import {
  addNode,
  connect,
  newId,
  remove,
  removeAndBridge,
  renameKey,
  replaceKind,
  setName,
  splice,
} from './model/document';
import { renameGroup, withMembers } from './model/groups';
import { keysOf, uniqueKey } from './model/keys';
import { absolutePlace, containerAt } from './model/places';
import { freePlace, makeRoom, placeAfter } from './model/room';
import { tidyUp } from './model/tidy';
import { edgeOf, nodeOf } from './model/walk';
import type { PickerRequest } from './ui';

const count = (n: number, one: string): string => (n === 1 ? `1 ${one}` : `${n} ${one}s`);

export const say = (hands: Hands, said: string): void => hands.ui.getState().set({ said });

/** The screen's point in the graph, or the middle of the view. */
export function toGraph(hands: Hands, at: Point | null): Point {
  const flow = hands.flow.current;
  if (!flow) return at ?? { x: 0, y: 0 };
  const { x, y } = flow.screenToFlowPosition(at ?? middleOfView());
  return Number.isFinite(x) && Number.isFinite(y) ? { x, y } : { x: 0, y: 0 }; // a view without a size has no middle
}

export function middleOfView(): Point {
  const box = document.querySelector('.react-flow')?.getBoundingClientRect();
  return box ? { x: box.left + box.width / 2, y: box.top + box.height / 2 } : { x: 400, y: 300 };
}

/** Adds a step where it was asked for, wired as it was asked for, and opens its settings. */
export function insertStep(hands: Hands, kind: string, request: PickerRequest): string | null {
  if (request.replace) {
    replaceStep(hands, request.replace, kind);
    return request.replace;
  }
  const id = newId('n');
  const spec = hands.kinds.get(kind);
  const wished = toGraph(hands, request.at);
  hands.store
    .getState()
    .apply(
      `Add ${spec?.title ?? kind}`,
      (document) => placed(hands, document, { id, kind, name: spec?.title ?? kind, request, wished }),
      { select: [id] },
    );
  hands.ui.getState().set({ tab: 'settings' });
  say(hands, `${spec?.title ?? kind} added`);
  requestAnimationFrame(() => bringIntoView(hands, id));
  return id;
}

export function isInView(hands: Hands, id: string): boolean {
  const flow = hands.flow.current;
  const node = flow?.getInternalNode(id);
  const view = document.querySelector('.react-flow')?.getBoundingClientRect();
  if (!flow || !node || !view) return true;
  const { x, y } = node.internals.positionAbsolute;
  const corner = flow.flowToScreenPosition({ x, y });
  const end = flow.flowToScreenPosition({ x: x + (node.width ?? 0), y: y + (node.height ?? 0) });
  return corner.x >= view.left && corner.y >= view.top && end.x <= view.right && end.y <= view.bottom;
}

/** Moves the view only where the step cannot be seen. */
export function bringIntoView(hands: Hands, id: string): void {
  const node = hands.flow.current?.getInternalNode(id);
  if (!node || isInView(hands, id)) return;
  const { x, y } = node.internals.positionAbsolute;
  const zoom = hands.flow.current?.getZoom() ?? 1;
  void hands.flow.current?.setCenter(x + (node.width ?? 0) / 2, y + (node.height ?? 0) / 2, { zoom, duration: 120 });
}

const CORNER_OF_BODY: Point = { x: PADDING, y: HEADER_HEIGHT + PADDING };

interface Placing {
  id: string;
  kind: string;
  name: string;
  request: PickerRequest;
  wished: Point;
}

function placed(hands: Hands, document: GraphDocument, placing: Placing): GraphDocument {
  const { request } = placing;
  if (request.edge) return inEdge(hands, document, placing, request.edge);
  if (request.from) return afterPort(hands, document, placing, request.from);
  if (request.into) return addNode(document, { ...fresh(placing), position: CORNER_OF_BODY, parent: request.into });
  const parent = containerAt(document, placing.wished, hands.kinds);
  const corner = { x: placing.wished.x - NODE_WIDTH / 2, y: placing.wished.y - NODE_HEIGHT / 2 };
  const origin = parent === null ? { x: 0, y: 0 } : absolutePlace(document, parent);
  const position = freePlace(document, { x: corner.x - origin.x, y: corner.y - origin.y }, parent);
  return addNode(document, { ...fresh(placing), position, parent });
}

const fresh = ({ id, kind, name }: Placing) => ({ id, kind, name, key: kind });

function inEdge(hands: Hands, document: GraphDocument, placing: Placing, edgeId: string): GraphDocument {
  const edge = edgeOf(document, edgeId);
  const source = edge && nodeOf(document, edge.source);
  if (!source) return document;
  const roomy = makeRoom(document, edgeId);
  const position = placeAfter(roomy, source, widthOf(hands, source.id));
  return splice(
    addNode(roomy, { ...fresh(placing), position, parent: source.parent }),
    edgeId,
    placing.id,
    hands.kinds,
  );
}

function afterPort(
  hands: Hands,
  document: GraphDocument,
  placing: Placing,
  from: { node: string; port: string },
): GraphDocument {
  const source = nodeOf(document, from.node);
  if (!source) return document;
  const origin = source.parent === null ? { x: 0, y: 0 } : absolutePlace(document, source.parent);
  const isFar = placing.wished.x > absolutePlace(document, source.id).x + widthOf(hands, source.id) + 40;
  const position = isFar
    ? freePlace(
        document,
        { x: placing.wished.x - origin.x, y: placing.wished.y - origin.y - NODE_HEIGHT / 2 },
        source.parent,
      )
    : placeAfter(document, source, widthOf(hands, source.id));
  const added = addNode(document, { ...fresh(placing), position, parent: source.parent });
  return connect(added, { source: from.node, port: from.port, target: placing.id }, hands.kinds);
}

const widthOf = (hands: Hands, id: string): number => hands.flow.current?.getNode(id)?.width ?? NODE_WIDTH;

export function replaceStep(hands: Hands, id: string, kind: string): void {
  hands.store
    .getState()
    .apply('Replace the step', (document) => replaceKind(document, id, kind, hands.kinds), { select: [id] });
}

export function removeSelected(hands: Hands, { bridge = false } = {}): void {
  const { selection, apply } = hands.store.getState();
  if (selection.size === 0) return;
  const label = bridge ? 'Delete and bridge' : `Delete ${count(selection.size, 'thing')}`;
  apply(
    label,
    (document) => (bridge ? removeAndBridge(document, selection, hands.kinds) : remove(document, selection)),
    { select: [] },
  );
  say(hands, label);
}

/** '2 steps', '1 note', '3 things'. */
const inClip = ({ nodes, notes }: Clip): string =>
  notes.length === 0
    ? count(nodes.length, 'step')
    : nodes.length === 0
      ? count(notes.length, 'note')
      : count(nodes.length + notes.length, 'thing');

export async function copySelected(hands: Hands, { cut = false } = {}): Promise<void> {
  const { document, selection } = hands.store.getState();
  const clip = copy(
    document,
    [...selection].filter((id) => edgeOf(document, id) === undefined),
  );
  if (!clip) return;
  await hands.clipboard.write(writeClip(clip));
  say(hands, `${inClip(clip)} copied`);
  if (cut) removeSelected(hands);
}

export async function pasteSteps(hands: Hands, { keepOutside = false } = {}): Promise<void> {
  pasteText(hands, await hands.clipboard.read(), { keepOutside, at: hands.pointer.current });
}

/** Pastes steps from a text; false where the text holds none. */
export function pasteText(
  hands: Hands,
  text: string,
  { keepOutside = false, at = null as Point | null } = {},
): boolean {
  const clip = readClip(text);
  const state = hands.store.getState();
  if (!clip || !state.canEdit) return false;
  const wish = at ? toGraph(hands, at) : undefined;
  const parent = wish ? containerAt(state.document, wish, hands.kinds) : null;
  const origin = parent === null ? { x: 0, y: 0 } : absolutePlace(state.document, parent);
  const corner = wish ? { x: snap(wish.x - origin.x), y: snap(wish.y - origin.y) } : undefined;
  const pasted = paste(state.document, clip, { at: corner, parent, keepOutside, kinds: hands.kinds });
  state.apply(`Paste ${inClip(clip)}`, () => pasted.document, { select: pasted.ids });
  say(hands, `${inClip(clip)} pasted`);
  return true;
}

export function duplicateSelected(hands: Hands): void {
  const { document, selection, apply } = hands.store.getState();
  const clip = copy(
    document,
    [...selection].filter((id) => edgeOf(document, id) === undefined),
  );
  if (!clip) return;
  const parent = nodeOf(document, clip.nodes[0]?.id ?? '')?.parent ?? null;
  const pasted = paste(document, clip, { parent, kinds: hands.kinds });
  apply(`Duplicate ${inClip(clip)}`, () => pasted.document, { select: pasted.ids });
}

/** The selected steps where several are selected; else everything, and then all of it is shown. */
export function tidy(hands: Hands): void {
  const { apply, document, selection } = hands.store.getState();
  const chosen = withMembers(document, selection);
  const count = document.nodes.filter((node) => chosen.has(node.id)).length;
  const label = count < 2 ? 'Tidy up' : `Tidy up ${count} steps`;
  apply(label, (graph) => tidyUp(graph, chosen, hands.kinds));
  say(hands, label);
  if (count < 2) requestAnimationFrame(() => void hands.flow.current?.fitView({ ...FIT, duration: 120 }));
}

/** Gives a step its name; a key that was made from the kind follows the name, and every expression follows the key. */
export function renameStep(hands: Hands, id: string, name: string): void {
  const trimmed = name.trim();
  if (!nodeOf(hands.store.getState().document, id)) {
    hands.store.getState().apply('Rename the group', (document) => renameGroup(document, id, trimmed));
    return;
  }
  hands.store.getState().apply('Rename the step', (document) => {
    const node = nodeOf(document, id);
    if (!node || trimmed === '' || node.name === trimmed) return document;
    const named = setName(document, id, trimmed);
    const isMade = new RegExp(`^${node.kind}(_\\d+)?$`).test(node.key);
    if (!isMade) return named;
    return renameKey(named, id, uniqueKey(trimmed.toLowerCase(), keysOf(document, id)), hands.kinds);
  });
}

/** Brings a step into view, selects it and gives it the keyboard. */
export function showStep(hands: Hands, id: string, { focus = true, centre = true } = {}): void {
  hands.store.getState().select([id]);
  const flow = hands.flow.current;
  const node = flow?.getInternalNode(id);
  if (!flow || !node) return;
  if (centre) {
    const { x, y } = node.internals.positionAbsolute;
    const zoom = Math.max(flow.getZoom(), 0.7);
    void flow.setCenter(x + (node.width ?? 0) / 2, y + Math.min(node.height ?? 0, 200) / 2, { zoom, duration: 120 });
  }
  if (focus) focusStep(id);
}

/** Long enough for a step out of view, which is drawn only once the view has moved to it, and hidden until measured. */
const MOST_FRAMES = 40;

export function focusStep(id: string, frames = MOST_FRAMES): void {
  requestAnimationFrame(() => {
    const step = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
    step?.focus({ preventScroll: true });
    if (document.activeElement !== step && frames > 0) focusStep(id, frames - 1);
  });
}
