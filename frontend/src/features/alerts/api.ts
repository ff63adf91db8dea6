import { request } from '../../api/client';
import type { components } from '../../api/schema';

type S = components['schemas'];

export type Alert = S['AlertOut'];
export type MadeAlert = S['AlertMade'];
export type Delivery = S['AlertDeliveryOut'];
export type AlertEvent = Alert['events'][number];
export type Channel = Alert['channel'];

export interface AlertDraft {
  name: string;
  workflow: string | null;
  channel: Channel;
  events: AlertEvent[];
  recipients: string[];
  connection: string;
  url: string;
  quiet_s: number;
  no_worker_s: number;
}

interface Call {
  signal?: AbortSignal | undefined;
}

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}/alerts`;
const one = (ws: string, id: string) => `${at(ws)}/${encodeURIComponent(id)}`;

export const listAlerts = (ws: string, workflow: string | null, { signal }: Call = {}) =>
  request<S['AlertList']>(at(ws), { query: { workflow }, signal });

export const createAlert = (ws: string, body: AlertDraft) => request<MadeAlert>(at(ws), { method: 'POST', body });

export const changeAlert = (ws: string, id: string, body: Partial<AlertDraft> & { enabled?: boolean }) =>
  request<Alert>(one(ws, id), { method: 'PATCH', body });

export const deleteAlert = (ws: string, id: string) => request<unknown>(one(ws, id), { method: 'DELETE' });

export const sendTest = (ws: string, id: string) =>
  request<Delivery>(`${one(ws, id)}/test`, { method: 'POST', body: {} });

export const newSecret = (ws: string, id: string) =>
  request<{ secret: string }>(`${one(ws, id)}/secret`, { method: 'POST', body: {} });

export const listDeliveries = (ws: string, id: string, cursor: string | null, { signal }: Call = {}) =>
  request<S['AlertDeliveryList']>(`${one(ws, id)}/deliveries`, {
    query: cursor ? { limit: 25, cursor } : { limit: 25 },
    signal,
  });

export const alertKeys = {
  all: (ws: string) => ['ws', ws, 'alerts'] as const,
  list: (ws: string, workflow: string | null) => ['ws', ws, 'alerts', 'list', workflow ?? ''] as const,
  deliveries: (ws: string, id: string) => ['ws', ws, 'alerts', id, 'deliveries'] as const,
};
