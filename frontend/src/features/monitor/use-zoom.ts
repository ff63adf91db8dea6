import { type RefObject, useEffect, useRef, useState } from 'react';

import type { Scale } from './timeline';
import { isAll, panned, zoomed } from './zoom';

export interface Zoom {
  shown: Scale;
  isFit: boolean;
  by: (factor: number) => void;
  pan: (share: number) => void;
  fit: () => void;
}

/** Which part of the run the timeline shows. Fitted, it grows with the run. Ctrl and the wheel zoom at the pointer. */
export function useZoom(whole: Scale, track: RefObject<HTMLElement | null>): Zoom {
  const [chosen, setChosen] = useState<Scale | null>(null);
  const shown = chosen ?? whole;
  const choose = (next: Scale) => setChosen(isAll(next, whole) ? null : next);
  const at = (factor: number, around: number) => choose(zoomed(shown, whole, { factor, around }));
  const latest = useRef<(event: WheelEvent) => void>(() => undefined);
  latest.current = (event) => {
    const box = track.current?.getBoundingClientRect();
    if (!box || box.width === 0) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      at(event.deltaY > 0 ? 1.25 : 0.8, shown.from + share * (shown.to - shown.from));
    } else if (chosen !== null && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      event.preventDefault();
      choose(panned(shown, whole, (event.deltaX || event.deltaY) / box.width));
    }
  };
  useEffect(() => {
    const area = track.current?.closest('section');
    if (!area) return;
    const onWheel = (event: WheelEvent) => latest.current(event);
    area.addEventListener('wheel', onWheel, { passive: false });
    return () => area.removeEventListener('wheel', onWheel);
  }, [track]);
  return {
    shown,
    isFit: chosen === null,
    by: (factor) => at(factor, (shown.from + shown.to) / 2),
    pan: (share) => chosen !== null && choose(panned(shown, whole, share)),
    fit: () => setChosen(null),
  };
}
