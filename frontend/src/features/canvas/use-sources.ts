import { useMemo } from 'react';

import { type DiagramSources, never, nothing } from '../../diagram';
import { useCanvas, useHands, useUi } from './hands';
import { levelOfNode } from './problems';

const useProblem = (id: string) => useCanvas((state) => levelOfNode(state.problems, id));
const useIsTarget = (id: string) => useUi((ui) => ui.dropTarget === id);

/** What the diagram's nodes ask by their id while a graph is edited. */
export function useSources(): DiagramSources {
  const { ui } = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  return useMemo(
    () => ({
      useStatus: nothing,
      useMark: nothing,
      useProblem,
      useBreakpoint: never,
      useIsTarget,
      onInsert: canEdit ? (picker) => ui.getState().set({ picker }) : undefined,
    }),
    [canEdit, ui],
  );
}
