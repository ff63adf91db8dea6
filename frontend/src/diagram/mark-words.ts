import type { Mark } from './types';

/** What a mark on a step says: never by its colour alone. */
export const MARK_WORDS: Readonly<Record<Mark, string>> = {
  kept: '⤼ kept',
  again: '↻ runs again',
  effect: '! may happen twice',
  added: '+ added',
  removed: '− removed',
  changed: '≠ changed',
};
