import { type FitViewOptions, useReactFlow, useStore } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';

/** Shows the whole graph again when the surface changes its size (a panel opened), unless somebody has moved the view. */
export function Refit({ options, isMoved }: { options: FitViewOptions; isMoved: RefObject<boolean> }) {
  const { fitView } = useReactFlow();
  const width = useStore((state) => state.width);
  useEffect(() => {
    if (width > 0 && !isMoved.current) void fitView(options);
  }, [width, fitView, options, isMoved]);
  return null;
}
