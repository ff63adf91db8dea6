/** Counts, labels and saved views of the runs list. */
import { type Query, request } from './client';
import { runAt } from './runs';
import type { components } from './schema';

type S = components['schemas'];
/** A number that is exact, or at least that much. */
export type Counted = S['RunCount'];
export type SavedView = S['ViewOut'];
export type LabelChange = S['LabelChange'];

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}`;
interface Call {
  signal?: AbortSignal | undefined;
}

export const countRuns = (ws: string, query: Query, { signal }: Call = {}) =>
  request<Counted>(`${at(ws)}/runs/count`, { query, signal });

export const listLabels = (ws: string, { signal }: Call = {}) =>
  request<{ items: string[] }>(`${at(ws)}/labels`, { signal });

export const changeLabels = (ws: string, run: string, body: Partial<LabelChange>) =>
  request<{ labels: string[] }>(`${runAt({ ws, run })}/labels`, { method: 'PUT', body });

export const listViews = (ws: string, { signal }: Call = {}) =>
  request<{ items: SavedView[] }>(`${at(ws)}/views`, { signal });

export const createView = (ws: string, body: Pick<SavedView, 'name' | 'query' | 'is_shared'>) =>
  request<SavedView>(`${at(ws)}/views`, { method: 'POST', body });

export const changeView = (ws: string, id: string, body: Partial<Pick<SavedView, 'name' | 'query' | 'is_shared'>>) =>
  request<SavedView>(`${at(ws)}/views/${encodeURIComponent(id)}`, { method: 'PATCH', body });

export const deleteView = (ws: string, id: string) =>
  request<unknown>(`${at(ws)}/views/${encodeURIComponent(id)}`, { method: 'DELETE' });
