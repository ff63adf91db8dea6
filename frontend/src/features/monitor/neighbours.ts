import { useQuery } from '@tanstack/react-query';

import { keys } from '../../api/query-keys';
import { listRuns } from '../../api/runs';
import { useMonitor, useRunState } from './store';

/** The runs before and after this one in the list of its workflow, newest first. */
export function useNeighbours(): { next?: string | undefined; previous?: string | undefined } {
  const { ref } = useMonitor();
  const workflow = useRunState((state) => state.run.workflow.id);
  const filter = { workflow, limit: 100 };
  const runs = useQuery({
    queryKey: keys.runs(ref.ws, filter),
    queryFn: ({ signal }) => listRuns(ref.ws, filter, { signal }),
    staleTime: 60_000,
  });
  const items = runs.data?.items ?? [];
  const at = items.findIndex((run) => run.id === ref.run);
  return at < 0 ? {} : { next: items[at + 1]?.id, previous: items[at - 1]?.id };
}
