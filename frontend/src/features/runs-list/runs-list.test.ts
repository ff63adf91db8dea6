import { describe, expect, it } from 'vitest';

import { failedRun, runningRun, succeededRun } from '../../testing/world/runs';
import { chipsOf } from './chips';
import {
  matchesFilters,
  NO_FILTERS,
  queryOf,
  readFilters,
  readSeconds,
  serverFilters,
  toggled,
  writeFilters,
} from './filters';
import { choose, NOTHING } from './selection';
import { newRuns, patchPages, usualDurations } from './use-runs';

const none = NO_FILTERS;
const old = failedRun({ id: 'a', number: 1, ago_s: 900 }).run;
const fresh = runningRun({ id: 'b', number: 2, ago_s: 10 }).run;

describe('live rows of the runs list', () => {
  it('take the place of the same run, and leave other pages as they are', () => {
    const pages = {
      pages: [
        { items: [old], next: 'x', looked_back_to: null },
        { items: [fresh], next: null, looked_back_to: null },
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

describe('more filters', () => {
  it('stand in the address in one order, and come back from it', () => {
    const filters = { ...none, status: 'failed,cancelled', label: 'month end', longer: '90' };
    expect(writeFilters(filters)).toBe('status=failed%2Ccancelled&longer=90&label=month+end');
    expect(readFilters(new URLSearchParams(writeFilters(filters)))).toEqual(filters);
    expect(toggled('failed', 'cancelled')).toBe('failed,cancelled');
    expect(toggled('failed,cancelled', 'failed')).toBe('cancelled');
  });

  it('are asked of the server under its own names', () => {
    const asked = serverFilters({ ...none, step: 'compliance', longer: '90', after: '2026-03-01' }, 0);
    expect(asked).toMatchObject({ failed_step: 'compliance', longer_than_s: '90' });
    expect(asked.started_after).toBe(new Date('2026-03-01T00:00:00').toISOString());
    expect(serverFilters({ ...none, after: 'soon' }, 0).started_after).toBeUndefined();
  });

  it('read a duration as people write it', () => {
    expect([readSeconds('90'), readSeconds('1.5 m'), readSeconds('2H'), readSeconds('1d')]).toEqual([
      90, 90, 7200, 86_400,
    ]);
    expect([readSeconds('soon'), readSeconds('-1'), readSeconds('')]).toEqual([null, null, null]);
  });

  it('fit a row as far as it tells', () => {
    expect(matchesFilters(old, { ...none, step: 'compliance', error: '503' })).toBe(true);
    expect(matchesFilters(old, { ...none, step: 'fetch' })).toBe(false);
    expect(matchesFilters(old, { ...none, error: 'no such words' })).toBe(false);
    expect(matchesFilters(old, { ...none, fingerprint: 'x' })).toBe(false);
    expect(matchesFilters({ ...old, labels: ['a', 'b'] }, { ...none, label: 'a,b' })).toBe(true);
    expect(matchesFilters(old, { ...none, label: 'a' })).toBe(false);
    expect(matchesFilters(old, { ...none, longer: '1000000' })).toBe(false);
    expect(matchesFilters(fresh, { ...none, shorter: '1000', trigger: 'manual,api', version: '3' })).toBe(true);
    expect(matchesFilters(old, { ...none, waits: 'person' })).toBe(false);
  });

  it('are chips, one for each label, and each says what is left without it', () => {
    const chips = chipsOf(
      { ...none, workflow: 'w', label: 'a,b', longer: '90', trigger: 'api', waits: 'person' },
      'Invoices',
    );
    expect(chips.map((one) => one.text)).toEqual([
      'Invoices',
      'started by the API',
      'longer than 1 m 30 s',
      'waits for a person',
      'label a',
      'label b',
    ]);
    expect(chips.find((one) => one.text === 'label a')?.without).toBe('b');
  });
});

describe('choosing runs', () => {
  const order = ['a', 'b', 'c', 'd'];
  const pick = (before: typeof NOTHING, id: string, isRange = false) => choose(before, id, { order, isRange });

  it('goes one by one, and over a range from the last one', () => {
    const range = pick(pick(NOTHING, 'b'), 'd', true);
    expect([...range.ids]).toEqual(['b', 'c', 'd']);
    expect([...pick(range, 'c').ids]).toEqual(['b', 'd']);
    expect([...pick(NOTHING, 'c', true).ids]).toEqual(['c']);
  });

  it('takes one away from all that are listed', () => {
    const without = pick({ ids: new Set(), isAll: true, anchor: null }, 'b');
    expect(without).toEqual({ ids: new Set(['a', 'c', 'd']), isAll: false, anchor: 'b' });
  });
});
