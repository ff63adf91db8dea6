import { useMemo } from 'react';

import { type DiagramSources, type MarginHands, never, nothing } from '../../diagram';
import { type Hands, useCanvas, useHands, useUi } from './hands';
import { foldGroup } from './model/groups';
import { setNoteColour, setNoteText } from './model/notes';
import { levelOfNode } from './problems';

const useProblem = (id: string) => useCanvas((state) => levelOfNode(state.problems, id));
const useIsTarget = (id: string) => useUi((ui) => ui.dropTarget === id);

const useIsEdited = (id: string) => useUi((ui) => ui.writing === id);

function marginHands({ store, ui }: Hands): MarginHands {
  const { apply } = store.getState();
  return {
    onText: (id, text) => {
      if (ui.getState().writing === id) ui.getState().set({ writing: null });
      apply('Write a note', (document) => setNoteText(document, id, text));
    },
    onColour: (id, colour) => apply('Colour a note', (document) => setNoteColour(document, id, colour)),
    onFold: (id, collapsed) =>
      apply(collapsed ? 'Fold a group' : 'Unfold a group', (document) => foldGroup(document, id, collapsed)),
  };
}

/** What the diagram's nodes ask by their id while a graph is edited. */
export function useSources(): DiagramSources {
  const hands = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  return useMemo(
    () => ({
      useStatus: nothing,
      useMark: nothing,
      useProblem,
      useBreakpoint: never,
      useIsTarget,
      useIsEdited,
      onInsert: canEdit ? (picker) => hands.ui.getState().set({ picker }) : undefined,
      margin: canEdit ? marginHands(hands) : undefined,
    }),
    [canEdit, hands],
  );
}
