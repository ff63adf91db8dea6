import { useMemo } from 'react';

import { insertStep } from './actions';
import { useHands } from './hands';
import { containerAt } from './model/places';
import { edgeAt } from './use-drag';

export const KIND_TYPE = 'application/x-pawl-kind';
/** Set beside the kind where no edge leads through such a step. While something is dragged, only types can be read. */
export const LOOSE_TYPE = 'application/x-pawl-loose';

/** Steps dragged out of the library, and where the pointer is (what is added by key lands there). */
export function useDropping() {
  const hands = useHands();
  return useMemo(() => {
    const { ui, store, kinds, flow, pointer } = hands;
    const edgeFor = (event: React.DragEvent) =>
      event.dataTransfer.types.includes(LOOSE_TYPE) ? null : edgeAt({ x: event.clientX, y: event.clientY });
    const target = (event: React.DragEvent, at = { x: event.clientX, y: event.clientY }) =>
      edgeFor(event) ?? containerAt(store.getState().document, flow.current?.screenToFlowPosition(at) ?? at, kinds);
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
        const dropTarget = target(event);
        if (ui.getState().dropTarget !== dropTarget) ui.getState().set({ dropTarget });
      },
      onDragLeave: () => ui.getState().set({ dropTarget: null }),
      onDrop: (event: React.DragEvent) => {
        const kind = event.dataTransfer.getData(KIND_TYPE);
        ui.getState().set({ dropTarget: null });
        if (!kind) return;
        event.preventDefault();
        const at = { x: event.clientX, y: event.clientY };
        const edge = edgeFor(event);
        insertStep(hands, kind, edge ? { edge, at } : { at });
      },
    };
  }, [hands]);
}
