import { http, type RequestHandler } from 'msw';

import { api, json } from '../../../testing/world/answers';
import { WORKFLOWS } from '../../../testing/world/people';
import type { Column, Overview } from '../api';
import { periodOf } from '../numbers';

const HOUR_S = 3600;
const SHAPES = { '24h': [24, HOUR_S], '7d': [28, 6 * HOUR_S], '30d': [30, 24 * HOUR_S] } as const;
const ref = (at: number) => {
  const { id = '', name = '' } = WORKFLOWS[at] ?? {};
  return { id, name };
};

const seconds = (isQuiet: boolean, value: number) => (isQuiet ? null : value);

/** Always the same columns, with quiet nights and one bad morning. */
function columns(count: number, step_s: number, since: number): Column[] {
  const bad = Math.floor(count * 0.7);
  return Array.from({ length: count }, (_, at) => {
    const isQuiet = at % 12 < 3;
    return {
      at: new Date(since + at * step_s * 1000).toISOString(),
      succeeded: isQuiet ? 0 : 14 + ((at * 7) % 11),
      failed: at === bad ? 9 : Number(at % 9 === 5),
      cancelled: Number(at % 11 === 4),
      open: at === count - 1 ? 2 : 0,
      p50_s: seconds(isQuiet, 72 + ((at * 13) % 30)),
      p95_s: seconds(isQuiet, 150 + ((at * 29) % 120)),
    };
  });
}

export function overviewOf(period: string, workflow: string | null): Overview {
  const { name } = periodOf(period);
  const [count, step_s] = SHAPES[name];
  const now = Date.now();
  const since = Math.floor(now / 3_600_000) * 3_600_000 + 3_600_000 - count * step_s * 1000;
  const all = columns(count, step_s, since);
  const sum = (field: 'succeeded' | 'failed' | 'cancelled' | 'open') => all.reduce((most, one) => most + one[field], 0);
  const runs = { succeeded: sum('succeeded'), failed: sum('failed'), cancelled: sum('cancelled'), open: sum('open') };
  const rate = runs.succeeded / (runs.succeeded + runs.failed);
  const at = (ago_s: number) => new Date(now - ago_s * 1000).toISOString();
  return {
    period: name,
    since: new Date(since).toISOString(),
    now: at(4),
    step_s,
    runs: { ...runs, total: Object.values(runs).reduce((most, one) => most + one, 0), success_rate: rate },
    durations: { p50_s: 84, p95_s: 221, sampled: runs.succeeded, is_exact: true },
    columns: all,
    workflows: workflow
      ? []
      : [
          { workflow: ref(0), archived: false, ...runs, success_rate: rate },
          { workflow: ref(1), archived: false, open: 0, succeeded: 31, failed: 0, cancelled: 0, success_rate: 1 },
        ],
    failed_steps: {
      items: [
        { workflow: ref(0), key: 'compliance', kind: 'http_request', steps: 9, runs: 9, last_at: at(5400) },
        { workflow: ref(0), key: 'ocr', kind: 'ocr', steps: 41, runs: 2, last_at: at(31_000) },
      ],
      is_exact: true,
    },
    saved: { runs: 7, seconds: 1391, steps: 49, is_exact: true },
    lanes: [
      { lane: 'browser', workers: 0, running: 0, waiting: 3, oldest_at: at(512) },
      { lane: 'default', workers: 2, running: 4, waiting: 0, oldest_at: null },
    ],
    next: [{ trigger: { id: 't1', name: 'Every morning', workflow: ref(0) }, at: at(-9200) }],
    amiss: {
      items: [
        {
          trigger: { id: 't1', name: 'Every morning', workflow: ref(0) },
          due_at: at(41_000),
          status: 'missed',
          reason: 'late',
          detail: null,
        },
      ],
      count: 1,
    },
  };
}

export function createOverviewHandlers(): RequestHandler[] {
  return [
    http.get(api('overview'), ({ request }) => {
      const { searchParams } = new URL(request.url);
      return json(overviewOf(searchParams.get('period') ?? '24h', searchParams.get('workflow')));
    }),
  ];
}
