import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { notifyFailure } from '../../components/ui/notify';
import { changeWorkflow, createWorkflow, findWorkflows, type WorkflowFilter } from './api';

export function useWorkflows(filter: WorkflowFilter) {
  const ws = useWorkspace();
  return useInfiniteQuery({
    queryKey: [...keys.workflows(ws), 'list', filter],
    queryFn: ({ pageParam, signal }) => findWorkflows(ws, { ...filter, cursor: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: (previous) => previous,
    refetchInterval: 30_000,
  });
}

export function useCreateWorkflow() {
  const ws = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => createWorkflow(ws, { name }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.workflows(ws) }),
  });
}

export function useChangeWorkflow() {
  const ws = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string; name?: string; archived?: boolean }) => changeWorkflow(ws, id, body),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.workflows(ws) }),
    onError: (error) => notifyFailure('The workflow stays as it was', error),
  });
}
