import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { listKinds, readWorkflow } from '../../api/workspace-calls';
import type { GraphDocument } from '../../diagram';
import { listVersions, readDraft, readHistory, readVersion } from './api';
import type { Side } from './selection';

const NOTHING: GraphDocument = { schema: 1, nodes: [], edges: [] };

export function useWorkflow(id: string) {
  const ws = useWorkspace();
  return useQuery({ queryKey: keys.workflow(ws, id), queryFn: ({ signal }) => readWorkflow(ws, id, { signal }) });
}

export function useKinds() {
  const ws = useWorkspace();
  return useQuery({
    queryKey: keys.kinds(ws),
    queryFn: ({ signal }) => listKinds(ws, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useVersions(id: string) {
  const ws = useWorkspace();
  return useInfiniteQuery({
    queryKey: [...keys.versions(ws, id), 'list'],
    queryFn: ({ pageParam, signal }) => listVersions(ws, id, { cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useDraft(id: string) {
  const ws = useWorkspace();
  // Not the canvas' own copy, which is never read anew while it is open.
  return useQuery({
    queryKey: [...keys.versions(ws, id), 'draft'],
    queryFn: ({ signal }) => readDraft(ws, id, { signal }),
  });
}

/** The graph of a side. A version never changes; the draft is read by `useDraft`. */
export function useGraph(id: string, side: Side | null) {
  const ws = useWorkspace();
  const draft = useDraft(id);
  const version = useQuery({
    queryKey: [...keys.versions(ws, id), side],
    queryFn: ({ signal }) => readVersion(ws, id, Number(side), { signal }),
    enabled: typeof side === 'number',
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (side === null) return { graph: NOTHING, error: null, refetch: draft.refetch };
  const query = side === 'draft' ? draft : version;
  return { graph: query.data?.graph, error: query.error, refetch: query.refetch };
}

export function useHistory(id: string, node: string) {
  const ws = useWorkspace();
  return useQuery({
    queryKey: [...keys.versions(ws, id), 'history', node],
    queryFn: ({ signal }) => readHistory(ws, id, node, { signal }),
  });
}
