import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { useWorkspace } from '../../api/workspace';
import { notifyFailure } from '../../components/ui/notify';
import {
  createTrigger,
  deleteTrigger,
  enableTrigger,
  listFirings,
  listTriggers,
  previewSchedule,
  type Trigger,
  type TriggerDraft,
  triggerKeys,
} from './api';

export function useTriggers(workflow: string) {
  const ws = useWorkspace();
  return useQuery({
    queryKey: triggerKeys.list(ws, workflow),
    queryFn: ({ signal }) => listTriggers(ws, workflow, { signal }),
    refetchInterval: 10_000,
  });
}

export function useCreateTrigger(workflow: string) {
  const ws = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (draft: TriggerDraft) => createTrigger(ws, workflow, draft),
    onSuccess: () => client.invalidateQueries({ queryKey: triggerKeys.list(ws, workflow) }),
  });
}

/** Enabling and deleting, of one trigger. */
export function useChangeTrigger(trigger: Trigger) {
  const ws = useWorkspace();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: triggerKeys.list(ws, trigger.workflow.id) });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => enableTrigger(ws, trigger.id, enabled),
    onError: (error) => notifyFailure(`'${trigger.name}' stays as it was`, error),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => deleteTrigger(ws, trigger.id),
    onError: (error) => notifyFailure(`'${trigger.name}' was not deleted`, error),
    onSettled,
  });
  return { enable, remove };
}

export function useFirings(id: string) {
  const ws = useWorkspace();
  return useInfiniteQuery({
    queryKey: triggerKeys.firings(ws, id),
    queryFn: ({ pageParam, signal }) => listFirings(ws, id, pageParam, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
}

/** The next times of an expression; its error says what is wrong with it. */
export function usePreview(cron: string, zone: string) {
  const ws = useWorkspace();
  return useQuery({
    queryKey: triggerKeys.preview(ws, cron, zone),
    queryFn: ({ signal }) => previewSchedule(ws, cron, zone, { signal }),
    enabled: cron.trim() !== '',
    retry: false,
    staleTime: 30_000,
  });
}
