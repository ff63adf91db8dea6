import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { useWorkspace } from '../../api/workspace';
import { notifyDone, notifyFailure } from '../../components/ui/notify';
import {
  type Alert,
  type AlertDraft,
  alertKeys,
  changeAlert,
  createAlert,
  deleteAlert,
  listAlerts,
  listDeliveries,
  sendTest,
} from './api';

const isUnderWay = (alert: Alert): boolean => alert.deliveries.some((one) => one.status === 'waiting');

/** All alerts, or those that tell of a workflow; asked more often while a delivery is on its way. */
export function useAlerts(workflow: string | null) {
  const ws = useWorkspace();
  return useQuery({
    queryKey: alertKeys.list(ws, workflow),
    queryFn: ({ signal }) => listAlerts(ws, workflow, { signal }),
    refetchInterval: (query) => (query.state.data?.items.some(isUnderWay) ? 1_500 : 15_000),
  });
}

export function useSaveAlert(before: Alert | null) {
  const ws = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (draft: AlertDraft): Promise<Alert & { secret?: string | null }> => {
      if (before === null) return createAlert(ws, draft);
      const { workflow: _, channel: __, ...changes } = draft;
      return changeAlert(ws, before.id, changes);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: alertKeys.all(ws) }),
  });
}

/** Switching, testing and deleting, of one alert. */
export function useAlertActs(alert: Alert) {
  const ws = useWorkspace();
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: alertKeys.all(ws) });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => changeAlert(ws, alert.id, { enabled }),
    onError: (error) => notifyFailure(`'${alert.name}' stays as it was`, error),
    onSettled,
  });
  const test = useMutation({
    mutationFn: () => sendTest(ws, alert.id),
    onSuccess: () => notifyDone('A test is on its way. Its outcome appears below the alert.'),
    onError: (error) => notifyFailure('No test was sent', error),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => deleteAlert(ws, alert.id),
    onError: (error) => notifyFailure(`'${alert.name}' was not deleted`, error),
    onSettled,
  });
  return { enable, test, remove };
}

export function useDeliveries(id: string) {
  const ws = useWorkspace();
  return useInfiniteQuery({
    queryKey: alertKeys.deliveries(ws, id),
    queryFn: ({ pageParam, signal }) => listDeliveries(ws, id, pageParam, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
}
