import { request } from '../../api/client';
import type { components } from '../../api/schema';
import type { Page } from '../../api/types';
import type { Json } from '../../lib/json';

type S = components['schemas'];
type Settings = { [key: string]: Json };

export type TriggerKind = S['TriggerKind'];
export type Trigger = Omit<S['TriggerOut'], 'settings'> & { settings: Settings };
export type MadeTrigger = Trigger & { secret: string | null };
export type Firing = S['FiringOut'];
export type Upcoming = S['Upcoming'];

export interface TriggerDraft {
  kind: TriggerKind;
  name: string;
  settings: Settings;
}

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}`;
const one = (ws: string, id: string) => `${at(ws)}/triggers/${encodeURIComponent(id)}`;
const of = (ws: string, workflow: string) => `${at(ws)}/workflows/${encodeURIComponent(workflow)}/triggers`;

interface Call {
  signal?: AbortSignal | undefined;
}

export const listTriggers = (ws: string, workflow: string, { signal }: Call = {}) =>
  request<Page<Trigger>>(of(ws, workflow), { query: { limit: 200 }, signal });

export const createTrigger = (ws: string, workflow: string, body: TriggerDraft) =>
  request<MadeTrigger>(of(ws, workflow), { method: 'POST', body });

export const enableTrigger = (ws: string, id: string, enabled: boolean) =>
  request<Trigger>(one(ws, id), { method: 'PATCH', body: { enabled } });

export const deleteTrigger = (ws: string, id: string) => request<unknown>(one(ws, id), { method: 'DELETE' });

export const listFirings = (ws: string, id: string, cursor: string | null, { signal }: Call = {}) =>
  request<Page<Firing>>(`${one(ws, id)}/firings`, { query: cursor ? { limit: 25, cursor } : { limit: 25 }, signal });

export const previewSchedule = (ws: string, cron: string, zone: string, { signal }: Call = {}) =>
  request<{ items: Upcoming[] }>(`${at(ws)}/schedule-preview`, { method: 'POST', body: { cron, zone }, signal });

export const triggerKeys = {
  list: (ws: string, workflow: string) => ['ws', ws, 'workflows', workflow, 'triggers'] as const,
  firings: (ws: string, id: string) => ['ws', ws, 'triggers', id, 'firings'] as const,
  preview: (ws: string, cron: string, zone: string) => ['ws', ws, 'schedule-preview', cron, zone] as const,
};
