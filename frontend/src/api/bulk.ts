/** One operation on many runs. */
import { type Query, request } from './client';
import type { components } from './schema';
import type { Page } from './types';

type S = components['schemas'];
export type BulkOperationName = S['BulkOperationName'];
export type Bulk = S['Bulk'];
export type BulkResult = S['BulkResult'];
export type BulkResultStatus = S['BulkResultStatusEnum'];
export type BulkPreview = S['BulkPreview'];

/** The runs that the filters of the list find, or those of these ids. */
export type Selection = { filter: Query } | { ids: readonly string[] };

export interface BulkAsked {
  operation: BulkOperationName;
  selection: Selection;
  labels?: { add: string[]; remove: string[] };
}

export interface BulkPace {
  rate_per_s: number | null;
  canary: number | null;
  /** The count of the preview: refused where other runs match by now. */
  expected_count: number | null;
}

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}/bulk`;
interface Call {
  signal?: AbortSignal | undefined;
}

/** Filters that ask for nothing are left out; the server refuses empty ones. */
function asBody({ operation, selection, labels }: BulkAsked) {
  const which =
    'ids' in selection
      ? { ids: selection.ids }
      : { filter: Object.fromEntries(Object.entries(selection.filter).filter(([, value]) => value || value === 0)) };
  return { operation, ...which, ...(labels ? { labels } : {}) };
}

export const previewBulk = (ws: string, asked: BulkAsked, { signal }: Call = {}) =>
  request<BulkPreview>(`${at(ws)}/preview`, { method: 'POST', body: asBody(asked), signal });

export const beginBulk = (ws: string, asked: BulkAsked, more: BulkPace & { command_id: string }) =>
  request<Bulk>(at(ws), { method: 'POST', body: { ...asBody(asked), ...more } });

export const listBulk = (ws: string, query: Query, { signal }: Call = {}) =>
  request<Page<Bulk>>(at(ws), { query, signal });

export const readBulk = (ws: string, id: string, { signal }: Call = {}) =>
  request<Bulk>(`${at(ws)}/${encodeURIComponent(id)}`, { signal });

export const listBulkRuns = (ws: string, id: string, query: Query, { signal }: Call = {}) =>
  request<Page<BulkResult>>(`${at(ws)}/${encodeURIComponent(id)}/runs`, { query, signal });

export const stopBulk = (ws: string, id: string) =>
  request<Bulk>(`${at(ws)}/${encodeURIComponent(id)}/stop`, { method: 'POST', body: {} });

export const continueBulk = (ws: string, id: string, revision: number) =>
  request<Bulk>(`${at(ws)}/${encodeURIComponent(id)}/continue`, { method: 'POST', body: { revision } });
