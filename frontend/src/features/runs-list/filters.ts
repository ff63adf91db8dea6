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
  q: string;
}

export const SPANS: { [within: string]: { label: string; ms: number } } = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 7 * 86_400_000 },
};

const NAMES = ['status', 'workflow', 'within', 'q'] as const;
export type FilterName = (typeof NAMES)[number];

export function useFilters() {
  const [params, setParams] = useSearchParams();
  const filters = useMemo<Filters>(
    () => ({
      status: params.get('status') ?? '',
      workflow: params.get('workflow') ?? '',
      within: params.get('within') ?? '',
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
export function queryOf({ status, workflow, within, q }: Filters, now: number): Query {
  const span = SPANS[within];
  const after = span ? new Date(Math.floor((now - span.ms) / MINUTE) * MINUTE).toISOString() : undefined;
  return { status, workflow, q, started_after: after, limit: 50 };
}

/** Whether a run that the live list tells of would stand in the filtered list. */
export function matchesFilters(run: Run, { status, workflow, q }: Filters): boolean {
  if (status && !status.split(',').includes(run.status)) return false;
  if (workflow && run.workflow.id !== workflow) return false;
  return !q || `${run.number} ${run.workflow.name}`.toLowerCase().includes(q.toLowerCase());
}
