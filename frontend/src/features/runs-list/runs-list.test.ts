import { describe, expect, it } from 'vitest';

import { failedRun, runningRun, succeededRun } from '../../testing/world/runs';
import { matchesFilters, queryOf } from './filters';
import { newRuns, patchPages, usualDurations } from './use-runs';

const none = { status: '', workflow: '', within: '', after: '', before: '', q: '' };
const old = failedRun({ id: 'a', number: 1, ago_s: 900 }).run;
const fresh = runningRun({ id: 'b', number: 2, ago_s: 10 }).run;

describe('live rows of the runs list', () => {
  it('take the place of the same run, and leave other pages as they are', () => {
    const pages = {
      pages: [
        { items: [old], next: 'x' },
        { items: [fresh], next: null },
      ],
      pageParams: [null, 'x'],
    };
    const changed = patchPages(pages, [{ ...old, status: 'running' }]);
    expect(changed.pages[0]?.items[0]?.status).toBe('running');
    expect(changed.pages[1]).toBe(pages.pages[1]);
  });

  it('are new only if they began later than what is listed and fit the filters', () => {
    expect(newRuns([old], [old, fresh], none)).toEqual([fresh]);
    expect(newRuns([fresh], [old], none)).toEqual([]);
    expect(newRuns([old], [fresh], { ...none, status: 'failed' })).toEqual([]);
  });
});

describe('filters', () => {
  it('name moments, as the numbers of the overview do', () => {
    const asked = queryOf({ ...none, after: '2026-01-30T11:00:00Z', before: '2026-01-30T12:00:00Z', within: '1h' }, 0);
    expect([asked.started_after, asked.started_before]).toEqual([
      '2026-01-30T11:00:00.000Z',
      '2026-01-30T12:00:00.000Z',
    ]);
    expect(queryOf({ ...none, after: 'yesterday' }, 0).started_after).toBeUndefined();
  });

  it('ask the server for a span that stays the same within a minute', () => {
    const at = Date.parse('2026-01-31T12:00:10Z');
    expect(queryOf({ ...none, within: '1h' }, at)).toEqual(queryOf({ ...none, within: '1h' }, at + 40_000));
    expect(queryOf({ ...none, within: '1h' }, at).started_after).toBe('2026-01-31T11:00:00.000Z');
    expect(queryOf({ ...none, within: 'nonsense' }, at).started_after).toBeUndefined();
  });

  it('fit by status, workflow, number and name', () => {
    expect(matchesFilters(fresh, { ...none, status: 'failed,running' })).toBe(true);
    expect(matchesFilters(fresh, { ...none, workflow: 'another' })).toBe(false);
    expect(matchesFilters(fresh, { ...none, q: 'INVOICES' })).toBe(true);
    expect(matchesFilters(fresh, { ...none, q: '77' })).toBe(false);
  });

  it('have no part in the usual duration, which is the median of what succeeded', () => {
    const done = succeededRun({ id: 'c', number: 3, ago_s: 900 }).run;
    expect(usualDurations([old, fresh]).size).toBe(0);
    expect(Math.round((usualDurations([done]).get(done.workflow.id) ?? 0) / 1000)).toBe(154);
  });
});
