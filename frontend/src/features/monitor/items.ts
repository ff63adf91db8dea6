import { shownStatus } from './node-status';
import type { LiveStep } from './reducer';

/** An item of a container with the step runs of its chain. */
export interface Item {
  index: number;
  steps: LiveStep[];
  /** The step run to look at first: the most urgent, of equal ones the last of the chain. */
  focus: LiveStep;
  duration_ms: number | null;
}

const URGENCY = ['failed', 'needs_decision', 'running', 'retry_wait', 'waiting', 'ready', 'cancelled', 'pending'];

const urgency = (step: LiveStep): number => {
  const at = URGENCY.indexOf(shownStatus(step));
  return at < 0 ? URGENCY.length : at;
};

/** Groups the step runs of a body by item: failed ones first, then what is under way, then by number. */
export function groupItems(steps: readonly LiveStep[]): Item[] {
  const byIndex = new Map<number, LiveStep[]>();
  for (const step of steps) {
    if (step.index === null) continue;
    byIndex.set(step.index, [...(byIndex.get(step.index) ?? []), step]);
  }
  const items: Item[] = [];
  for (const [index, chain] of byIndex) {
    const [first] = chain;
    if (!first) continue;
    const focus = chain.reduce((best, one) => (urgency(one) <= urgency(best) ? one : best), first);
    const times = chain.map((step) => step.duration_ms).filter((ms) => ms !== null);
    items.push({ index, steps: chain, focus, duration_ms: times.length > 0 ? times.reduce((a, b) => a + b, 0) : null });
  }
  return items.sort((a, b) => urgency(a.focus) - urgency(b.focus) || a.index - b.index);
}

/** What the items of a container are called. */
export function wordOf(kind: string): { one: string; many: string } {
  if (kind === 'loop') return { one: 'round', many: 'rounds' };
  return kind === 'try_block' ? { one: 'try', many: 'steps inside' } : { one: 'item', many: 'items' };
}
