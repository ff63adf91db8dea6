import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';

import type { Query } from '../../api/client';
import type { Run } from '../../api/types';

/** The filters of the runs list, by their names in the address. A list of values is separated by commas. */
export const NAMES = [
  'status',
  'workflow',
  'version',
  'starter',
  'trigger',
  'within',
  'after',
  'before',
  'longer',
  'shorter',
  'step',
  'error',
  'fingerprint',
  'label',
  'waits',
  'q',
] as const;
export type FilterName = (typeof NAMES)[number];
/** An empty text asks for nothing. */
export type Filters = Readonly<Record<FilterName, string>>;

export const NO_FILTERS = Object.fromEntries(NAMES.map((name) => [name, ''])) as Record<FilterName, string>;

export const SPANS: { [within: string]: { label: string; ms: number } } = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 7 * 86_400_000 },
  '30d': { label: 'last 30 days', ms: 30 * 86_400_000 },
};

export const TRIGGERS: { [trigger: string]: string } = {
  manual: 'by hand',
  api: 'by the API',
  schedule: 'by a schedule',
  webhook: 'by a webhook',
  run_end: "by a run's end",
  workflow: 'by another workflow',
  fork: 'as a fork',
};

export const readFilters = (params: URLSearchParams): Filters =>
  Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? ''])) as Filters;

/** As a saved view keeps them: in a fixed order, nothing but filters. */
export function writeFilters(filters: Filters): string {
  return new URLSearchParams(NAMES.filter((name) => filters[name]).map((name) => [name, filters[name]])).toString();
}

export const listed = (value: string): string[] => value.split(',').filter(Boolean);

/** A comma-separated list with the value in it, or without where it was. */
export function toggled(value: string, one: string): string {
  const all = listed(value);
  return (all.includes(one) ? all.filter((each) => each !== one) : [...all, one]).join(',');
}

export function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters = useMemo(() => readFilters(params), [params]);
  const set = useCallback(
    (name: FilterName, value: string) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          if (value) next.set(name, value);
          else next.delete(name);
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  const clear = useCallback(() => setParams({}, { replace: true }), [setParams]);
  return { filters, set, clear, isFiltered: NAMES.some((name) => filters[name] !== '') };
}

const MINUTE = 60_000;

/** A moment of the address as the server takes it, a day as its beginning here; undefined where it is none. */
export function momentOf(text: string): string | undefined {
  const at = new Date(text.includes('T') ? text : `${text}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/**
 * What the server is asked, without a page. A span is rounded to the minute, so that the same filter is the same question
 * for a while.
 */
export function serverFilters(filters: Filters, now: number): Query {
  const span = SPANS[filters.within];
  const within = span ? new Date(Math.floor((now - span.ms) / MINUTE) * MINUTE).toISOString() : undefined;
  const { status, workflow, version, starter, trigger, error, fingerprint, label, waits, q } = filters;
  return {
    ...{ status, workflow, version, starter, trigger, error, fingerprint, label, waits, q },
    started_after: momentOf(filters.after) ?? within,
    started_before: momentOf(filters.before),
    longer_than_s: filters.longer,
    shorter_than_s: filters.shorter,
    failed_step: filters.step,
  };
}

export const queryOf = (filters: Filters, now: number): Query => ({ ...serverFilters(filters, now), limit: 50 });

/** 90, 90s, 15m, 2h, 1d in seconds; null where it is no duration. */
export function readSeconds(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(s|m|h|d)?\s*$/i.exec(text);
  if (!found) return null;
  return Number(found[1]) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[(found[2] ?? 's').toLowerCase()] ?? 1);
}

const has = (value: string, text: string | null | undefined): boolean =>
  (text ?? '').toLowerCase().includes(value.toLowerCase());

function fitsFailure(run: Run, { step, error, fingerprint }: Filters): boolean {
  if (!step && !error && !fingerprint) return true;
  if (fingerprint || run.status !== 'failed') return false; // no row tells its fingerprint
  if (
    step &&
    run.failed_step?.path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, '') !== step
  )
    return false;
  return !error || has(error, run.failed_step?.error?.message) || has(error, run.failed_step?.error?.code);
}

function fitsDuration(run: Run, { longer, shorter }: Filters): boolean {
  if (!longer && !shorter) return true;
  const took = ((run.finished_at ? Date.parse(run.finished_at) : Date.now()) - Date.parse(run.started_at)) / 1000;
  return (!longer || took >= Number(longer)) && (!shorter || took < Number(shorter));
}

/** Whether a run that the live list tells of would stand in the filtered list, as far as its row tells. */
export function matchesFilters(run: Run, filters: Filters): boolean {
  const { status, workflow, version, starter, trigger, label, waits, q } = filters;
  const until = momentOf(filters.before);
  if (until && Date.parse(run.started_at) >= Date.parse(until)) return false;
  const isOpen = ['running', 'paused', 'cancelling'].includes(run.status);
  return (
    (!status || listed(status).includes(run.status)) &&
    (!workflow || run.workflow.id === workflow) &&
    (!version || run.version === Number(version)) &&
    (!starter || run.started_by === starter) &&
    (!trigger || listed(trigger).includes(run.trigger)) &&
    listed(label).every((one) => run.labels.includes(one)) &&
    (!waits || isOpen) &&
    (!q || has(q.replace(/^#/, ''), `${run.number} ${run.workflow.name}`)) &&
    fitsFailure(run, filters) &&
    fitsDuration(run, filters)
  );
}
