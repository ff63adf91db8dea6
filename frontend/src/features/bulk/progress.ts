import type { Bulk } from '../../api/bulk';
import { formatCount } from '../../lib/format';

export const PARTS = ['done', 'refused', 'skipped', 'pending'] as const;
export type Part = (typeof PARTS)[number];

export const PART_WORDS: Readonly<Record<Part, string>> = {
  done: 'done',
  refused: 'refused',
  skipped: 'left as they were',
  pending: 'to do',
};

/** Each part of the whole in percent; nothing of an operation without runs. */
export function sharesOf({ total, ...counts }: Bulk['counts']): { part: Part; share: number; count: number }[] {
  return PARTS.map((part) => ({ part, count: counts[part], share: total > 0 ? (counts[part] / total) * 100 : 0 }));
}

/** Where it stands, in a sentence. */
export function progressSentence({ status, counts, reason }: Bulk): string {
  const behind = counts.total - counts.pending;
  switch (status) {
    case 'running':
      return `${behind.toLocaleString('en')} of ${formatCount(counts.total, 'run')} so far.`;
    case 'done':
      return counts.refused > 0
        ? `Every run had its turn; ${formatCount(counts.refused, 'run')} refused it.`
        : 'Every run had its turn.';
    case 'waiting':
    case 'stopped':
      return `${reason?.message ?? 'It stands still.'} ${formatCount(counts.pending, 'run')} left.`;
  }
}

export const canStop = (status: Bulk['status']): boolean => status === 'running' || status === 'waiting';
export const canContinue = (status: Bulk['status']): boolean => status === 'stopped' || status === 'waiting';
