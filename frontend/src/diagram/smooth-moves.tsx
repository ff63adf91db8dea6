import { useOnViewportChange, useStoreApi } from '@xyflow/react';
import { useMemo } from 'react';

/**
 * Lets the browser move the drawn graph as one picture while the view moves, and draw it sharp again when it rests. Without
 * it, every frame of a pan paints all nodes anew. Stands inside of a ReactFlow.
 *
 * `data-moving` on the drawing surface says that the view has really moved: a press alone, which may become a click, is no move.
 */
export function SmoothMoves() {
  const store = useStoreApi();
  const handlers = useMemo(() => {
    const hint = (value: 'transform' | 'auto') => {
      const view = store.getState().domNode?.querySelector<HTMLElement>('.react-flow__viewport');
      if (view) view.style.willChange = value;
    };
    const tell = (isMoving: boolean) => store.getState().domNode?.toggleAttribute('data-moving', isMoving);
    return {
      onStart: () => hint('transform'),
      onChange: () => tell(true),
      onEnd: () => {
        hint('auto');
        tell(false);
      },
    };
  }, [store]);
  useOnViewportChange(handlers);
  return null;
}
