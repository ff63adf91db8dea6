/** What a bulk operation does, in words. */
import type { Bulk, BulkAsked, BulkOperationName, BulkPreview } from '../../api/bulk';
import { formatCount, formatDuration, formatNames } from '../../lib/format';

export const VERBS: Readonly<Record<BulkOperationName, string>> = {
  resume: 'Resume',
  cancel: 'Cancel',
  pause: 'Pause',
  unpause: 'Unpause',
  label: 'Label',
};

/** 'Resume of 20 runs'. */
export const titleOf = ({ operation, counts }: Pick<Bulk, 'operation' | 'counts'>): string =>
  `${VERBS[operation]} ${formatCount(counts.total, 'run')}`;

/** How many of the chosen runs it is tried on, and why not on the others. */
export function previewSentence({ count, skipped, by_status }: BulkPreview, operation: BulkOperationName): string {
  const tried = count - skipped;
  const whole = `${VERBS[operation]}s ${formatCount(tried, 'run')}.`;
  if (skipped === 0) return whole;
  const statuses = Object.entries(by_status).map(([status, n]) => `${n.toLocaleString('en')} ${status}`);
  const out = `${formatCount(skipped, 'run')} of the ${count.toLocaleString('en')} ${skipped === 1 ? 'is' : 'are'} left as ${skipped === 1 ? 'it is' : 'they are'}`;
  return tried === 0
    ? `Nothing to do: ${out} (${formatNames(statuses)}).`
    : `${whole} ${out} (${formatNames(statuses)}).`;
}

type Plan = BulkPreview['plans'][number];

/** What would happen to one run. */
export function planSentence(plan: Plan, { operation, labels }: BulkAsked): string {
  if (!plan.allowed) return plan.refusal ?? 'It cannot be done.';
  switch (operation) {
    case 'resume': {
      const saved = plan.saved_s >= 1 ? `, saves ${formatDuration(plan.saved_s * 1000)}` : '';
      return `runs ${formatNames(plan.again, 4)} again, keeps ${formatCount(plan.kept_count, 'step')}${saved}`;
    }
    case 'cancel':
      return `stops ${formatCount(plan.stops_count, 'open step')}, keeps ${plan.kept_count} finished`;
    case 'pause':
      return 'starts nothing new until it is unpaused';
    case 'unpause':
      return 'goes on';
    case 'label':
      return labelSentence(labels);
  }
}

export function labelSentence(labels: BulkAsked['labels']): string {
  const added = labels?.add.length ? `gets ${formatNames(labels.add)}` : '';
  const removed = labels?.remove.length ? `loses ${formatNames(labels.remove)}` : '';
  return [added, removed].filter(Boolean).join(', ');
}
