import { useOnViewportChange, useStoreApi } from '@xyflow/react';
import { useMemo } from 'react';

/**
 * Lets the browser move the drawn graph as one picture while the view moves, and draw it sharp again when it rests. Without
 * it, every frame of a pan paints all nodes anew. Stands inside of a ReactFlow.
 */
export function SmoothMoves() {
  const store = useStoreApi();
  const handlers = useMemo(() => {
    const hint = (value: 'transform' | 'auto') => () => {
      const view = store.getState().domNode?.querySelector<HTMLElement>('.react-flow__viewport');
      if (view) view.style.willChange = value;
    };
    return { onStart: hint('transform'), onEnd: hint('auto') };
  }, [store]);
  useOnViewportChange(handlers);
  return null;
}
