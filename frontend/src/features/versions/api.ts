import { request } from '../../api/client';
import type { Page } from '../../api/types';
import type { GraphDocument, GraphNode } from '../../diagram';

export interface VersionRow {
  number: number;
  note: string;
  published_at: string;
  published_by: string | null;
}

export interface Draft {
  revision: number;
  graph: GraphDocument;
  updated_at: string;
  updated_by: string | null;
}

/** What a step was from a version on; number null: in the draft. */
export interface StepState {
  number: number | null;
  note: string;
  at: string;
  by: string | null;
  node: GraphNode | null;
}

interface Call {
  signal?: AbortSignal | undefined;
}

const at = (ws: string, id: string) => `/workspaces/${encodeURIComponent(ws)}/workflows/${encodeURIComponent(id)}`;

export const listVersions = (ws: string, id: string, { cursor, signal }: Call & { cursor?: string | undefined }) =>
  request<Page<VersionRow>>(`${at(ws, id)}/versions`, { query: cursor ? { cursor } : {}, signal });

export const readVersion = (ws: string, id: string, number: number, call: Call = {}) =>
  request<VersionRow & { graph: GraphDocument }>(`${at(ws, id)}/versions/${number}`, call);

export const readDraft = (ws: string, id: string, call: Call = {}) => request<Draft>(`${at(ws, id)}/draft`, call);

export const readHistory = (ws: string, id: string, node: string, call: Call = {}) =>
  request<{ items: StepState[]; since: number | null }>(
    `${at(ws, id)}/steps/${encodeURIComponent(node)}/history`,
    call,
  );
