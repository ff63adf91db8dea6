import type { Scale } from './timeline';

const CLOSEST_MS = 20;

/** A scale with `factor` times as much in it (below 1: nearer), around a moment that keeps its place, inside the whole. */
export function zoomed(shown: Scale, whole: Scale, { factor, around }: { factor: number; around: number }): Scale {
  const span = Math.min(Math.max((shown.to - shown.from) * factor, CLOSEST_MS), whole.to - whole.from);
  const share = (around - shown.from) / Math.max(1, shown.to - shown.from);
  return within({ from: around - share * span, to: around + (1 - share) * span }, whole);
}

/** Moved by a share of what is shown. */
export function panned(shown: Scale, whole: Scale, by: number): Scale {
  const shift = (shown.to - shown.from) * by;
  return within({ from: shown.from + shift, to: shown.to + shift }, whole);
}

/** Of the same length, but not beyond the ends. */
function within({ from, to }: Scale, whole: Scale): Scale {
  const span = Math.min(to - from, whole.to - whole.from);
  const begin = Math.min(Math.max(from, whole.from), whole.to - span);
  return { from: begin, to: begin + span };
}

export const isAll = (shown: Scale, whole: Scale): boolean => shown.from <= whole.from && shown.to >= whole.to;
