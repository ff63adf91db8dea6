import { describe, expect, it } from 'vitest';

import type { Column } from '../api';
import {
  endOf,
  formatShare,
  formatSpan,
  niceSpan,
  niceTop,
  periodOf,
  piecesOf,
  runsBehind,
  sentenceOf,
} from '../numbers';

const column = (more: Partial<Column>): Column => ({
  at: '2026-03-01T10:00:00Z',
  open: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  p50_s: null,
  p95_s: null,
  ...more,
});

describe('the runs behind a number', () => {
  it('are named by the filters of the list, in its address', () => {
    const to = new URL(
      runsBehind('acme', { since: '2026-03-01T10:00:00Z', outcome: 'open', workflow: 'f1', failedStep: 'ocr' }),
      'http://x',
    );
    expect(to.pathname).toBe('/w/acme/runs');
    expect(Object.fromEntries(to.searchParams)).toEqual({
      status: 'running,paused,cancelling',
      workflow: 'f1',
      after: '2026-03-01T10:00:00Z',
      step: 'ocr',
    });
  });

  it('of one column end where the next one begins', () => {
    expect(endOf('2026-03-01T10:00:00Z', 3600)).toBe('2026-03-01T11:00:00.000Z');
  });
});

describe('numbers in words', () => {
  it.each([
    [null, '–'],
    [1, '100 %'],
    [0.9996, '> 99.9 %'],
    [0.974, '97.4 %'],
    [0.5, '50 %'],
    [0, '0 %'],
  ])('a share of %s is %s', (share, told) => expect(formatShare(share)).toBe(told));

  it.each([
    [[], 2],
    [[2], 2],
    [[25], 30],
    [[101], 200],
    [[8_100], 10_000],
  ])('a scale over %j ends at %s', (values, top) => expect(niceTop(values)).toBe(top));

  it.each([
    [[], 2, '2 s'],
    [[221], 240, '4 m'],
    [[3_700], 7200, '2 h'],
    [[90_000], 172_800, '2 d'],
  ])('a scale over %j seconds ends at %s: %s', (values, top, told) => {
    expect(niceSpan(values)).toBe(top);
    expect(formatSpan(top)).toBe(told);
  });

  it('a column names what it has, and says so where it has nothing', () => {
    expect(sentenceOf(column({ succeeded: 1200, failed: 1 }), 3600)).toMatch(/: 1,200 succeeded, 1 failed$/);
    expect(sentenceOf(column({}), 86_400)).toMatch(/: no run was started$/);
  });

  it('takes a period that it does not know for the shortest', () => {
    expect([periodOf('30d').name, periodOf('9y').name, periodOf(null).name]).toEqual(['30d', '24h', '24h']);
  });
});

describe('a line', () => {
  it('is broken where there is no value, and a lone point is none', () => {
    const at = (x: number) => ({ x, y: 1 });
    expect(piecesOf([at(0), at(1), null, at(3), null, at(5), at(6)])).toEqual(['M0.0 1.0L1.0 1.0', 'M5.0 1.0L6.0 1.0']);
  });
});
