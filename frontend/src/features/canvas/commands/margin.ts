/** Notes, groups and steps that are switched off. */
import { notifications } from '@mantine/notifications';

import { middleOfView, say, toGraph } from '../actions';
import type { Hands } from '../hands';
import { setDisabled } from '../model/document';
import {
  foldGroup,
  freeGroupName,
  groupOf,
  makeGroup,
  newGroupId,
  ungroup,
  whyNotGroup,
  withMembers,
} from '../model/groups';
import { addNote, NOTE_SIZE, newNoteId, nextColour, noteOf, setNoteColour } from '../model/notes';
import { canEdit, editsThings, oneGroup, oneNote } from './acts';
import type { Command } from './command';

/** Its text is asked for at once. */
function putNote(hands: Hands): void {
  const id = newNoteId();
  const at = toGraph(hands, hands.pointer.current ?? middleOfView());
  const corner = { x: at.x - NOTE_SIZE.width / 2, y: at.y - NOTE_SIZE.height / 4 };
  hands.store.getState().apply('Add a note', (document) => addNote(document, { id, at: corner }), { select: [id] });
  hands.ui.getState().set({ writing: id });
  say(hands, 'Note added');
}

function groupSelected(hands: Hands): void {
  const { document, selection, apply } = hands.store.getState();
  const why = whyNotGroup(document, selection);
  if (why) {
    notifications.show({ message: why, color: 'gray', autoClose: 4000 });
    return;
  }
  const id = newGroupId();
  const name = freeGroupName(document);
  apply('Group', (graph) => makeGroup(graph, selection, { id, name }), { select: [id] });
  say(hands, `${name} made`);
  requestAnimationFrame(() => hands.ui.getState().set({ renaming: id }));
}

const hasGroup = (hands: Hands): boolean => {
  const { document, selection } = hands.store.getState();
  return [...selection].some((id) => groupOf(document, id));
};

function ungroupSelected(hands: Hands): void {
  const { document, selection, apply } = hands.store.getState();
  const freed = withMembers(document, selection);
  apply('Ungroup', (graph) => ungroup(graph, selection), { select: [...freed] });
  say(hands, 'Ungrouped');
}

function foldSelected(hands: Hands): void {
  const { document, apply } = hands.store.getState();
  const group = groupOf(document, oneGroup(hands) ?? '');
  if (!group) return;
  const label = group.collapsed ? 'Unfold a group' : 'Fold a group';
  apply(label, (graph) => foldGroup(graph, group.id, !group.collapsed));
  say(hands, label);
}

/** Steps among the selection that can be switched off: all but the start. */
const switchable = ({ store, kinds }: Hands): string[] => {
  const { document, selection } = store.getState();
  const chosen = withMembers(document, selection);
  return document.nodes
    .filter((node) => chosen.has(node.id) && kinds.get(node.kind)?.has_input !== false)
    .map((node) => node.id);
};

/** Off where any of them is on; else on again. */
function switchSelected(hands: Hands): void {
  const { document, apply } = hands.store.getState();
  const ids = new Set(switchable(hands));
  const disabled = document.nodes.some((node) => ids.has(node.id) && !node.disabled);
  const what = ids.size === 1 ? 'the step' : `${ids.size} steps`;
  const label = disabled ? `Disable ${what}` : `Enable ${what}`;
  apply(label, (graph) => setDisabled(graph, ids, { disabled, kinds: hands.kinds }));
  say(hands, disabled ? `${label}: runs pass through` : label);
}

export const MARGIN_COMMANDS: readonly Command[] = [
  { id: 'note', name: 'Add a note', group: 'Add', keys: ['shift+s'], menus: ['pane'], when: canEdit, run: putNote },
  {
    id: 'note-colour',
    name: 'Next colour of the note',
    group: 'Edit',
    keys: ['shift+c'],
    menus: ['note'],
    when: (h) => canEdit(h) && oneNote(h) !== null,
    run: (h) => {
      const id = oneNote(h) ?? '';
      const colour = nextColour(noteOf(h.store.getState().document, id)?.colour ?? 'grey');
      h.store.getState().apply('Colour a note', (document) => setNoteColour(document, id, colour));
      say(h, `The note is ${colour}`);
    },
  },
  {
    id: 'group',
    name: 'Group',
    group: 'Edit',
    keys: ['mod+g'],
    menus: ['node', 'note'],
    when: editsThings,
    run: groupSelected,
  },
  {
    id: 'ungroup',
    name: 'Ungroup',
    group: 'Edit',
    keys: ['mod+shift+g'],
    menus: ['group'],
    when: (h) => canEdit(h) && hasGroup(h),
    run: ungroupSelected,
  },
  {
    id: 'fold',
    name: 'Fold or unfold the group',
    group: 'View',
    keys: ['e'],
    menus: ['group'],
    when: (h) => canEdit(h) && oneGroup(h) !== null,
    run: foldSelected,
  },
  {
    id: 'disable',
    name: 'Disable, or enable again',
    group: 'Edit',
    keys: ['d'],
    menus: ['node', 'group'],
    when: (h) => canEdit(h) && switchable(h).length > 0,
    run: switchSelected,
  },
];
