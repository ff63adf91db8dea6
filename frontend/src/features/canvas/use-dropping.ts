import { useMemo } from 'react';

import { insertStep } from './actions';
import { useHands } from './hands';
import { containerAt } from './model/places';
import { edgeAt } from './use-drag';

export const KIND_TYPE = 'application/x-pawl-kind';

/** Steps dragged out of the library, and where the pointer is (what is added by key lands there). */
export function useDropping() {
  const hands = useHands();
  return useMemo(() => {
    const { ui, store, kinds, flow, pointer } = hands;
    const target = (at: { x: number; y: number }) =>
      edgeAt(at) ?? containerAt(store.getState().document, flow.current?.screenToFlowPosition(at) ?? at, kinds);
    return {
      onMouseMove: (event: React.MouseEvent) => {
        pointer.current = { x: event.clientX, y: event.clientY };
      },
      onMouseLeave: () => {
        pointer.current = null;
      },
      onDragOver: (event: React.DragEvent) => {
        if (!event.dataTransfer.types.includes(KIND_TYPE)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
        const dropTarget = target({ x: event.clientX, y: event.clientY });
        if (ui.getState().dropTarget !== dropTarget) ui.getState().set({ dropTarget });
      },
      onDragLeave: () => ui.getState().set({ dropTarget: null }),
      onDrop: (event: React.DragEvent) => {
        const kind = event.dataTransfer.getData(KIND_TYPE);
        ui.getState().set({ dropTarget: null });
        if (!kind) return;
        event.preventDefault();
        const at = { x: event.clientX, y: event.clientY };
        const edge = edgeAt(at);
        insertStep(hands, kind, edge ? { edge, at } : { at });
      },
    };
  }, [hands]);
}
