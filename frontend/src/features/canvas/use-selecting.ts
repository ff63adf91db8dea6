import type { EdgeChange, NodeChange } from '@xyflow/react';
import { useMemo } from 'react';

import type { StepFlowEdge, StepFlowNode } from '../../diagram';
import { useHands } from './hands';

type Change = NodeChange<StepFlowNode> | EdgeChange<StepFlowEdge>;

/** React Flow tells which things were picked; the store keeps it. */
export function useSelecting() {
  const { store, ui } = useHands();
  return useMemo(() => {
    const onChanges = (changes: readonly Change[]) => {
      const picked = changes.filter((change) => change.type === 'select');
      if (picked.length === 0) return;
      const next = new Set(store.getState().selection);
      for (const { id, selected } of picked) {
        if (selected) next.add(id);
        else next.delete(id);
      }
      store.getState().select(next);
    };
    const menuFor =
      (target: 'node' | 'edge' | 'pane') => (event: MouseEvent | React.MouseEvent, thing?: { id: string }) => {
        event.preventDefault();
        const { selection, select } = store.getState();
        if (thing && !selection.has(thing.id)) select([thing.id]);
        ui.getState().set({ menu: { at: { x: event.clientX, y: event.clientY }, target } });
      };
    return { onChanges, onNodeMenu: menuFor('node'), onEdgeMenu: menuFor('edge'), onPaneMenu: menuFor('pane') };
  }, [store, ui]);
}
