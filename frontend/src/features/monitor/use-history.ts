import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { keys } from '../../api/query-keys';
import { type RunRef, readEvents } from '../../api/runs';
import type { RunEvent } from '../../api/types';
import { useMonitor, useMonitorState } from './store';

/** More than that many events are not fetched for the eye; the lists say so. */
export const MOST_EVENTS = 20_000;

async function readHistory(ref: RunRef, until: number, signal: AbortSignal): Promise<RunEvent[]> {
  const from = Math.max(0, until - MOST_EVENTS);
  const events: RunEvent[] = [];
  let after = from;
  while (after < until) {
    const page = await readEvents(ref, after, { signal });
    const last = page.items.at(-1);
    if (!last) break;
    events.push(...page.items.filter((event) => event.seq <= until));
    after = last.seq;
  }
  return events;
}

/** All events of the run: those before the page was opened are fetched once, the rest comes live. */
export function useHistory(isWanted = true) {
  const { ref } = useMonitor();
  const since = useMonitorState((state) => state.since);
  const live = useMonitorState((state) => state.events);
  const before = useQuery({
    queryKey: [...keys.run(ref.ws, ref.run), 'history', since],
    queryFn: ({ signal }) => readHistory(ref, since, signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isWanted,
  });
  const events = useMemo(() => [...(before.data ?? []), ...live], [before.data, live]);
  return { events, isPending: before.isPending, error: before.error, retry: before.refetch };
}
