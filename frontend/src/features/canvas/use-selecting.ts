import type { EdgeChange, NodeChange } from '@xyflow/react';
import { useMemo } from 'react';

import type { DrawnNode, StepFlowEdge } from '../../diagram';
import { useHands } from './hands';
import type { MenuTarget } from './ui';

type Change = NodeChange<DrawnNode> | EdgeChange<StepFlowEdge>;

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
    const openMenu = (event: MouseEvent | React.MouseEvent, target: MenuTarget, id?: string) => {
      event.preventDefault();
      const { selection, select } = store.getState();
      if (id && !selection.has(id)) select([id]);
      ui.getState().set({ menu: { at: { x: event.clientX, y: event.clientY }, target } });
    };
    const onNodeMenu = (event: MouseEvent | React.MouseEvent, { id, type }: DrawnNode) =>
      openMenu(event, type === 'note' ? 'note' : type === 'cluster' ? 'group' : 'node', id);
    const onEdgeMenu = (event: MouseEvent | React.MouseEvent, { id }: StepFlowEdge) => openMenu(event, 'edge', id);
    const onPaneMenu = (event: MouseEvent | React.MouseEvent) => openMenu(event, 'pane');
    // The header of an open group, which no lasso takes.
    const onNodeClick = (event: React.MouseEvent, node: DrawnNode) => {
      if (node.type !== 'cluster' || node.data.group.collapsed) return;
      const more = event.shiftKey || event.ctrlKey || event.metaKey;
      store.getState().select(more ? [...store.getState().selection, node.id] : [node.id]);
    };
    return { onChanges, onNodeMenu, onEdgeMenu, onPaneMenu, onNodeClick };
  }, [store, ui]);
}
