/** The failure inbox. */
import { type Query, request } from './client';
import type { Counted } from './lists';
import type { components } from './schema';
import type { Page } from './types';

export type FailureGroup = components['schemas']['FailureGroupOut'];
export type FailureState = FailureGroup['state'];
export type FailureShow = FailureState | 'resolved';

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}/failures`;
interface Call {
  signal?: AbortSignal | undefined;
}

export const listFailures = (ws: string, query: Query, { signal }: Call = {}) =>
  request<Page<FailureGroup>>(at(ws), { query, signal });

export const countFailures = (ws: string, { signal }: Call = {}) => request<Counted>(`${at(ws)}/count`, { signal });

export const setFailureState = (ws: string, fingerprint: string, body: { state: FailureState; note?: string }) =>
  request<FailureGroup>(`${at(ws)}/${encodeURIComponent(fingerprint)}`, { method: 'PUT', body });
