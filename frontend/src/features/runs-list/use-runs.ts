import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { countRuns } from '../../api/lists';
import { useListMessages, usePollingInterval } from '../../api/live';
import { keys } from '../../api/query-keys';
import { listRuns } from '../../api/runs';
import type { Run, RunsPage } from '../../api/types';
import { type Filters, matchesFilters, queryOf, serverFilters } from './filters';

type Pages = InfiniteData<RunsPage, string | null>;

/** Puts newer rows in the place of the same runs. Pages without a change keep their identity. */
export function patchPages(pages: Pages, rows: readonly Run[]): Pages {
  const byId = new Map(rows.map((run) => [run.id, run]));
  const changed = pages.pages.map((page) =>
    page.items.some((run) => byId.has(run.id))
      ? { ...page, items: page.items.map((run) => byId.get(run.id) ?? run) }
      : page,
  );
  return { ...pages, pages: changed };
}

/** The runs of the told rows that began after everything that is listed. */
export function newRuns(listed: readonly Run[], rows: readonly Run[], filters: Filters): Run[] {
  const known = new Set(listed.map((run) => run.id));
  const newest = listed.reduce((latest, run) => Math.max(latest, Date.parse(run.started_at)), 0);
  return rows.filter(
    (run) => !known.has(run.id) && Date.parse(run.started_at) >= newest && matchesFilters(run, filters),
  );
}

/** The runs list: rows change in place, new ones wait until they are asked for. */
export function useRuns(ws: string, filters: Filters) {
  const client = useQueryClient();
  const polling = usePollingInterval();
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set());
  const query = useMemo(() => queryOf(filters, Date.now()), [filters]);
  const key = useMemo(() => [...keys.runs(ws, query), 'pages'], [ws, query]);
  const runs = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => listRuns(ws, { ...query, cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: polling,
  });
  const items = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  useListMessages(ws, (message) => {
    if (message.type !== 'list') return;
    client.setQueryData<Pages>(key, (pages) => pages && patchPages(pages, message.runs));
    const fresh = runs.isSuccess ? newRuns(items, message.runs, filters) : [];
    if (fresh.length > 0) setWaiting((before) => new Set([...before, ...fresh.map((run) => run.id)]));
  });
  const { refetch } = runs;
  const showNew = useCallback(() => {
    setWaiting(new Set());
    void refetch();
    void client.invalidateQueries({ queryKey: ['ws', ws, 'runs', 'count'] });
  }, [refetch, client, ws]);
  const shown = new Set(items.map((run) => run.id));
  const newCount = [...waiting].filter((id) => !shown.has(id)).length;
  return { runs, items, newCount, showNew, lookedBackTo: runs.data?.pages.at(-1)?.looked_back_to ?? null };
}

/** How many runs the filters find; the server says where it stopped counting. */
export function useRunCount(ws: string, filters: Filters) {
  const query = useMemo(() => serverFilters(filters, Date.now()), [filters]);
  return useQuery({
    queryKey: keys.runCount(ws, query),
    queryFn: ({ signal }) => countRuns(ws, query, { signal }),
    staleTime: 10_000,
  });
}

/** The median duration of the finished runs of each workflow, to measure a run against its usual. */
export function usualDurations(runs: readonly Run[]): Map<string, number> {
  const times = new Map<string, number[]>();
  for (const run of runs) {
    if (run.status !== 'succeeded' || !run.finished_at) continue;
    const took = Date.parse(run.finished_at) - Date.parse(run.started_at);
    times.set(run.workflow.id, [...(times.get(run.workflow.id) ?? []), took]);
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  return new Map([...times].map(([id, list]) => [id, median(list)]));
}
