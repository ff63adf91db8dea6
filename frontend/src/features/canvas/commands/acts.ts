/** What commands ask and do; the tables beside name them. */
import { focusStep, isInView, middleOfView, say, showStep } from '../actions';
import { type Hands, portsShown } from '../hands';
import { move } from '../model/document';
import { groupOf, withMembers } from '../model/groups';
import { noteOf } from '../model/notes';
import { neighbour } from '../model/room';
import { nodeOf, reachable } from '../model/walk';
import { selectedNodeId } from '../store';

export const always = (): boolean => true;
export const canEdit = (hands: Hands): boolean => hands.store.getState().canEdit;
export const one = (hands: Hands): string | null => selectedNodeId(hands.store.getState());
export const hasOne = (hands: Hands): boolean => one(hands) !== null;
export const editsOne = (hands: Hands): boolean => canEdit(hands) && hasOne(hands);
export const hasNodes = (hands: Hands): boolean => {
  const { document, selection } = hands.store.getState();
  return document.nodes.some((node) => selection.has(node.id));
};
export const editsAny = (hands: Hands): boolean => canEdit(hands) && hands.store.getState().selection.size > 0;
export const editsNodes = (hands: Hands): boolean => canEdit(hands) && hasNodes(hands);
export const oneNote = (hands: Hands): string | null => {
  const { document, selection } = hands.store.getState();
  const id = selection.size === 1 ? ([...selection][0] ?? '') : '';
  return noteOf(document, id) ? id : null;
};
export const oneGroup = (hands: Hands): string | null => {
  const { document, selection } = hands.store.getState();
  const id = selection.size === 1 ? ([...selection][0] ?? '') : '';
  return groupOf(document, id) ? id : null;
};
/** Steps, notes or groups: what can be copied and duplicated. */
export const hasThings = (hands: Hands): boolean => {
  const { document, selection } = hands.store.getState();
  return hasNodes(hands) || [...(document.notes ?? []), ...(document.groups ?? [])].some(({ id }) => selection.has(id));
};
export const editsThings = (hands: Hands): boolean => canEdit(hands) && hasThings(hands);
export const oneEdge = (hands: Hands): string | null => {
  const { document, selection } = hands.store.getState();
  const id = selection.size === 1 ? [...selection][0] : undefined;
  return id !== undefined && document.edges.some((edge) => edge.id === id) ? id : null;
};

export const pick = (hands: Hands): void =>
  hands.ui.getState().set({ picker: { at: hands.pointer.current ?? middleOfView() } });

/** After the selected step, through its first port; where nothing is selected, at the pointer. */
export function pickNext(hands: Hands): void {
  const id = one(hands);
  const { document } = hands.store.getState();
  const node = id === null ? undefined : nodeOf(document, id);
  const ports = node ? (portsShown(hands, node.id) ?? hands.kinds.get(node.kind)?.ports ?? []) : [];
  const used = new Set(document.edges.filter((edge) => edge.source === id).map((edge) => edge.source_port));
  const port = ports.find((candidate) => !used.has(candidate.name)) ?? ports[0];
  if (!node || !port) {
    pick(hands);
    return;
  }
  hands.ui.getState().set({ picker: { at: screenSpotOf(node.id), from: { node: node.id, port: port.name } } });
}

export function screenSpotOf(id: string): { x: number; y: number } {
  const box = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
  return box ? { x: box.right + 16, y: box.top } : middleOfView();
}

export const walk = (way: 'left' | 'right' | 'up' | 'down') => (hands: Hands) => {
  const { document } = hands.store.getState();
  const from = one(hands);
  const next = from === null ? document.nodes[0]?.id : neighbour(document, from, way, hands.kinds);
  if (next) showStep(hands, next, { centre: !isInView(hands, next) });
};

export const nudge = (x: number, y: number) => (hands: Hands) => {
  const { selection, apply } = hands.store.getState();
  apply(
    'Move',
    (document) => {
      const chosen = withMembers(document, selection);
      const movers = [...document.nodes, ...(document.notes ?? [])].filter((thing) => chosen.has(thing.id));
      return move(document, new Map(movers.map((n) => [n.id, { x: n.position.x + x, y: n.position.y + y }])));
    },
    { policy: { kind: 'typing', topic: 'nudge' } },
  );
};

export function selectAll(hands: Hands): void {
  const { document, select } = hands.store.getState();
  select([...document.nodes, ...(document.notes ?? [])].map(({ id }) => id));
}

export function selectAlong(hands: Hands, way: 'up' | 'down'): void {
  const id = one(hands);
  if (id === null) return;
  hands.store.getState().select([id, ...reachable(hands.store.getState().document, id, way)]);
}

export const open = (dialog: 'publish' | 'run' | 'shortcuts' | 'connect' | 'find') => (hands: Hands) =>
  hands.ui.getState().set({ dialog });

export function travel(way: 'undo' | 'redo'): (hands: Hands) => void {
  return (hands) => {
    const label = hands.store.getState()[way]();
    if (label) say(hands, `${way === 'undo' ? 'Undone' : 'Done again'}: ${label}`);
  };
}

/** Esc closes the topmost thing first; only then it lets go of the selection. */
export function closeTopmost(hands: Hands): void {
  const ui = hands.ui.getState();
  if (ui.menu) ui.set({ menu: null });
  else if (ui.writing) ui.set({ writing: null });
  else if (ui.renaming) ui.set({ renaming: null });
  else hands.store.getState().select([]);
}

/** Enter: the settings of a step, the text of a note. */
export function openSettings(hands: Hands): void {
  const note = oneNote(hands);
  if (note) {
    hands.ui.getState().set({ writing: note });
    return;
  }
  hands.ui.getState().set({ tab: 'settings' });
  requestAnimationFrame(() => {
    const fields = '[data-panel] [data-field] input, [data-panel] [data-field] .cm-content';
    const first =
      document.querySelector<HTMLElement>(fields) ?? document.querySelector<HTMLElement>('[data-panel] input');
    first?.focus();
  });
}

export const goTo = (hands: Hands): void => {
  const id = one(hands);
  if (id) focusStep(id);
};
