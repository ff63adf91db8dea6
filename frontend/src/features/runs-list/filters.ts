import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';

import type { Query } from '../../api/client';
import type { Run } from '../../api/types';

/** The filters of the runs list, as they stand in the address. */
export interface Filters {
  status: string;
  workflow: string;
  /** A span back from now: '1h', '24h', '7d'. */
  within: string;
  /** From this moment on, and before that one: as the overview's numbers name the runs behind them. A day is its beginning. */
  after: string;
  before: string;
  q: string;
}

export const SPANS: { [within: string]: { label: string; ms: number } } = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 7 * 86_400_000 },
};

const NAMES = ['status', 'workflow', 'within', 'after', 'before', 'q'] as const;
export type FilterName = (typeof NAMES)[number];

export function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters = useMemo<Filters>(
    () => ({
      status: params.get('status') ?? '',
      workflow: params.get('workflow') ?? '',
      within: params.get('within') ?? '',
      after: params.get('after') ?? '',
      before: params.get('before') ?? '',
      q: params.get('q') ?? '',
    }),
    [params],
  );
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

/** What the server is asked. A span is rounded to the minute, so that the same filter is the same question for a while. */
export function queryOf({ status, workflow, within, after, before, q }: Filters, now: number): Query {
  const span = SPANS[within];
  const back = span ? new Date(Math.floor((now - span.ms) / MINUTE) * MINUTE).toISOString() : undefined;
  const started_after = momentOf(after) ?? back;
  return { status, workflow, q, started_after, started_before: momentOf(before), limit: 50 };
}

/** A moment of the address as the server takes it; undefined where it is none. */
export function momentOf(text: string): string | undefined {
  const at = new Date(text.includes('T') ? text : `${text}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Whether a run that the live list tells of would stand in the filtered list. */
export function matchesFilters(run: Run, { status, workflow, before, q }: Filters): boolean {
  const until = momentOf(before);
  if (until && Date.parse(run.started_at) >= Date.parse(until)) return false;
  if (status && !status.split(',').includes(run.status)) return false;
  if (workflow && run.workflow.id !== workflow) return false;
  return !q || `${run.number} ${run.workflow.name}`.toLowerCase().includes(q.toLowerCase());
}
