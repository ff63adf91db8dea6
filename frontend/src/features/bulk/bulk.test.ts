import { describe, expect, it } from 'vitest';

import type { Bulk, BulkPreview } from '../../api/bulk';
import { planSentence, previewSentence, titleOf } from '../../components/bulk/words';
import { canContinue, canStop, progressSentence, sharesOf } from './progress';

const bulk: Bulk = {
  id: 'b',
  operation: 'resume',
  status: 'running',
  reason: null,
  revision: 1,
  rate_per_s: null,
  canary: null,
  counts: { total: 20, pending: 5, done: 10, refused: 1, skipped: 4 },
  actor: 'Ana',
  request: {},
  created_at: '2026-03-01T12:00:00Z',
  finished_at: null,
};

const plan: BulkPreview['plans'][number] = {
  run: { id: 'r', number: 7, status: 'failed', workflow: { id: 'w', name: 'Invoices' } },
  allowed: true,
  refusal: null,
  again: ['compliance'],
  again_count: 1,
  kept_count: 8,
  may_happen_twice: [],
  stops_count: 2,
  saved_s: 94,
};

describe('a bulk operation', () => {
  it('says how far it is, and what it waits for', () => {
    expect(titleOf(bulk)).toBe('Resume 20 runs');
    expect(progressSentence(bulk)).toBe('15 of 20 runs so far.');
    const reason = { code: 'canary', message: 'The first 3 runs are done.' } as const;
    expect(progressSentence({ ...bulk, status: 'waiting', reason })).toBe('The first 3 runs are done. 5 runs left.');
    expect(progressSentence({ ...bulk, status: 'done' })).toBe('Every run had its turn; 1 run refused it.');
  });

  it('shows its parts as shares of the whole, also of nothing', () => {
    expect(sharesOf(bulk.counts).map((one) => one.share)).toEqual([50, 5, 20, 25]);
    expect(sharesOf({ total: 0, pending: 0, done: 0, refused: 0, skipped: 0 }).every((one) => one.share === 0)).toBe(
      true,
    );
  });

  it('is stopped while it goes on, and continued while it stands', () => {
    expect((['running', 'waiting', 'stopped', 'done'] as const).map(canStop)).toEqual([true, true, false, false]);
    expect((['running', 'waiting', 'stopped', 'done'] as const).map(canContinue)).toEqual([false, true, true, false]);
  });
});

describe('the preview of a bulk operation', () => {
  it('says how many runs it is tried on, and which are left as they are', () => {
    const seen = { count: 4, skipped: 1, by_status: { failed: 3, succeeded: 1 }, plans: [] };
    expect(previewSentence(seen, 'resume')).toBe(
      'Resumes 3 runs. 1 run of the 4 is left as it is (3 failed and 1 succeeded).',
    );
    expect(previewSentence({ ...seen, skipped: 0 }, 'cancel')).toBe('Cancels 4 runs.');
    expect(previewSentence({ count: 2, skipped: 2, by_status: { succeeded: 2 }, plans: [] }, 'resume')).toBe(
      'Nothing to do: 2 runs of the 2 are left as they are (2 succeeded).',
    );
  });

  it('tells of each run what happens to it', () => {
    const say = (operation: Bulk['operation']) => planSentence(plan, { operation, selection: { ids: [] } });
    expect(say('resume')).toBe('runs compliance again, keeps 8 steps, saves 1 m 34 s');
    expect(say('cancel')).toBe('stops 2 open steps, keeps 8 finished');
    const labels = { add: ['month end'], remove: ['to check'] };
    expect(planSentence(plan, { operation: 'label', selection: { ids: [] }, labels })).toBe(
      'gets month end, loses to check',
    );
    expect(
      planSentence({ ...plan, allowed: false, refusal: 'No.' }, { operation: 'resume', selection: { ids: [] } }),
    ).toBe('No.');
  });
});
