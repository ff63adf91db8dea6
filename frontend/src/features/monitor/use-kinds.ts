import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { keys } from '../../api/query-keys';
import { listKinds } from '../../api/workspace-calls';
import type { KindsByName } from '../../diagram';
import { useMonitor } from './store';

export function useKinds() {
  const { ref } = useMonitor();
  const kinds = useQuery({
    queryKey: keys.kinds(ref.ws),
    queryFn: ({ signal }) => listKinds(ref.ws, { signal }),
    staleTime: 600_000,
  });
  const byName = useMemo<KindsByName>(
    () => new Map((kinds.data?.items ?? []).map((kind) => [kind.kind, kind])),
    [kinds.data],
  );
  return { byName, isPending: kinds.isPending, error: kinds.error, retry: kinds.refetch };
}
