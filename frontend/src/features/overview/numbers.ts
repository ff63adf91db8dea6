import { paths } from '../../lib/paths';
import type { Column, PeriodName } from './api';

/** The periods that the address may name: `?period=`. */
export const PERIODS: readonly { name: PeriodName; label: string; words: string; refresh_ms: number }[] = [
  { name: '24h', label: '24 hours', words: 'the last 24 hours', refresh_ms: 15_000 },
  { name: '7d', label: '7 days', words: 'the last 7 days', refresh_ms: 60_000 },
  { name: '30d', label: '30 days', words: 'the last 30 days', refresh_ms: 300_000 },
];

export const periodOf = (name: string | null) => PERIODS.find((one) => one.name === name) ?? (PERIODS[0] as Period);
export type Period = (typeof PERIODS)[number];

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'open';
/** From the bottom of a column to its top. */
export const OUTCOMES: readonly Outcome[] = ['succeeded', 'cancelled', 'open', 'failed'];
export const OUTCOME_WORDS: { [outcome in Outcome]: string } = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  open: 'open',
};

interface Behind {
  since: string;
  until?: string | undefined;
  outcome?: Outcome | undefined;
  workflow?: string | undefined;
  failedStep?: string | undefined;
}

const STATUSES: { [outcome in Outcome]: string } = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  open: 'running,paused,cancelling',
};

/** The list of exactly the runs that a number counts. */
export function runsBehind(ws: string, { since, until, outcome, workflow, failedStep }: Behind): string {
  const search = new URLSearchParams();
  if (outcome) search.set('status', STATUSES[outcome]);
  if (workflow) search.set('workflow', workflow);
  search.set('after', since);
  if (until) search.set('before', until);
  if (failedStep) search.set('step', failedStep);
  return `${paths.runs(ws)}?${search}`;
}

/** 97.4 %, 100 %; never 100 % of what is not all of it. */
export function formatShare(share: number | null): string {
  if (share === null) return '–';
  const percent = share * 100;
  if (percent > 99.9 && percent < 100) return '> 99.9 %';
  return `${percent >= 99.95 || percent === Math.round(percent) ? Math.round(percent) : percent.toFixed(1)} %`;
}

/** A round number that no value is above and that has a half, for a scale's top; at least 2. */
export function niceTop(values: readonly number[]): number {
  const most = Math.max(2, ...values);
  const size = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 3, 4, 6, 8, 10].find((each) => each * size >= most) ?? 10;
  return step * size;
}

const SPANS_S = [2, 4, 10, 20, 40, 60, 120, 240, 360, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** The same of seconds: a span that people count in, whose half is one as well. */
export function niceSpan(seconds: readonly number[]): number {
  const most = Math.max(0, ...seconds);
  return SPANS_S.find((each) => each >= most) ?? niceTop([most / 86_400]) * 86_400;
}

/** 30 s, 5 m, 2 h, 1 d: a whole number of the largest unit that fits. */
export function formatSpan(seconds: number): string {
  const [unit, name] = (
    [
      [86_400, 'd'],
      [3600, 'h'],
      [60, 'm'],
    ] as const
  ).find(([size]) => seconds % size === 0) ?? [1, 's'];
  return seconds === 0 ? '0' : `${seconds / unit} ${name}`;
}

export const totalOf = (column: Column): number => column.succeeded + column.failed + column.cancelled + column.open;

/** When a column begins, as its label says it: an hour of the day, or a day. */
export function labelOf(at: string, step_s: number): string {
  const date = new Date(at);
  const day = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  const hour = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
  if (step_s < 6 * 3600) return hour;
  return step_s < 86_400 ? `${day}, ${hour}` : day;
}

export const endOf = (at: string, step_s: number): string => new Date(Date.parse(at) + step_s * 1000).toISOString();

/** What a column says when it is pointed at, or read out. */
export function sentenceOf(column: Column, step_s: number): string {
  const told = OUTCOMES.filter((outcome) => column[outcome] > 0).map(
    (outcome) => `${column[outcome].toLocaleString('en')} ${OUTCOME_WORDS[outcome]}`,
  );
  return `${labelOf(column.at, step_s)}: ${told.length > 0 ? told.join(', ') : 'no run was started'}`;
}

export interface Point {
  x: number;
  y: number;
}

/** The pieces of a line that are without a gap, as paths of an SVG. */
export function piecesOf(points: readonly (Point | null)[]): string[] {
  const pieces: Point[][] = [[]];
  for (const point of points) {
    if (point) pieces[pieces.length - 1]?.push(point);
    else pieces.push([]);
  }
  return pieces
    .filter((piece) => piece.length > 1)
    .map((piece) => piece.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(''));
}
