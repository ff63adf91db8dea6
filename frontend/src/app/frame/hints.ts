import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

import { countFailures } from '../../api/failures';
import { useListMessages, usePollingInterval } from '../../api/live';
import { keys } from '../../api/query-keys';
import { listRuns } from '../../api/runs';
import { listWaits } from '../../api/workspace-calls';

const AT_MOST_EVERY_MS = 1500;
export const RUNNING_FILTER = { status: 'running', limit: 100 } as const;

/** Keeps the counts of the frame true: what the live list says makes them stale, at most once in a while. */
export function useWorkspaceHints(ws: string): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useListMessages(ws, (message) => {
    if (message.type === 'waits') void client.invalidateQueries({ queryKey: keys.waits(ws) });
    if (message.type !== 'list' || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: keys.runs(ws, RUNNING_FILTER), exact: true });
    }, AT_MOST_EVERY_MS);
  });
}

export function useRunningCount(ws: string): number {
  const interval = usePollingInterval();
  const runs = useQuery({
    queryKey: keys.runs(ws, RUNNING_FILTER),
    queryFn: ({ signal }) => listRuns(ws, RUNNING_FILTER, { signal }),
    refetchInterval: interval === false ? false : 10_000,
  });
  return runs.data?.items.length ?? 0;
}

export function useInboxCount(ws: string): number {
  const interval = usePollingInterval();
  const waits = useQuery({
    queryKey: keys.waits(ws),
    queryFn: ({ signal }) => listWaits(ws, { signal }),
    refetchInterval: interval === false ? false : 10_000,
  });
  return waits.data?.items.length ?? 0;
}

const FAILURES_EVERY_MS = 20_000;

/** Groups of failures that nobody has in hand. A sweeper writes failures down: a hint would come too soon. */
export function useFailureCount(ws: string): number {
  const failures = useQuery({
    queryKey: keys.failureCount(ws),
    queryFn: ({ signal }) => countFailures(ws, { signal }),
    refetchInterval: FAILURES_EVERY_MS,
  });
  return failures.data?.count ?? 0;
}
