import { request } from '../../api/client';
import type { Run, Workflow } from '../../api/types';
import type { GraphDocument, JsonObject, Port } from '../../diagram';
import type { Fix } from './model/fix';

export interface Problem {
  code: string;
  severity: 'error' | 'warning' | 'hint';
  message: string;
  node?: string | null;
  field?: string | null;
  edge?: string | null;
  fix?: Fix | null;
}

export interface Draft {
  revision: number;
  graph: GraphDocument;
  problems: Problem[];
  updated_at: string;
  updated_by: string | null;
}

export interface Version {
  number: number;
  note: string;
  published_at: string;
  published_by: string | null;
  graph?: GraphDocument;
}

export type DoctorState = 'ok' | 'warning' | 'error';

export interface DoctorFinding {
  state: DoctorState;
  message: string;
  node: string | null;
  trigger: string | null;
  upcoming: { at: string; local: string; clock: 'forward' | 'back' | null }[];
}

export interface DoctorCheck {
  check: string;
  title: string;
  state: DoctorState;
  findings: DoctorFinding[];
}

/** What GET /doctor says of the draft at `revision`. */
export interface Doctor {
  revision: number;
  state: DoctorState;
  checks: DoctorCheck[];
}

interface Call {
  signal?: AbortSignal | undefined;
}

const at = (ws: string, id: string) => `/workspaces/${encodeURIComponent(ws)}/workflows/${encodeURIComponent(id)}`;

export const readWorkflow = (ws: string, id: string, call: Call = {}) => request<Workflow>(at(ws, id), call);

export const readDraft = (ws: string, id: string, call: Call = {}) => request<Draft>(`${at(ws, id)}/draft`, call);

export const saveDraft = (ws: string, id: string, body: { revision: number; graph: GraphDocument }) =>
  request<Draft>(`${at(ws, id)}/draft`, { method: 'PUT', body });

export const readDoctor = (ws: string, id: string, call: Call = {}) => request<Doctor>(`${at(ws, id)}/doctor`, call);

export const readVersion = (ws: string, id: string, number: number, call: Call = {}) =>
  request<Version>(`${at(ws, id)}/versions/${number}`, call);

export const publishDraft = (ws: string, id: string, body: { revision: number; note: string }) =>
  request<Version>(`${at(ws, id)}/publish`, { method: 'POST', body });

export const describeNodes = (ws: string, id: string, nodes: { kind: string; config: JsonObject }[]) =>
  request<{ items: ({ description: string; ports: Port[] } | null)[] }>(`${at(ws, id)}/describe`, {
    method: 'POST',
    body: { nodes },
  });

export interface StartRun {
  input: unknown;
  version?: number;
  idempotency_key: string;
}

export const startRun = (ws: string, id: string, body: StartRun) =>
  request<Run>(`${at(ws, id)}/runs`, { method: 'POST', body });

export const renameWorkflow = (ws: string, id: string, name: string) =>
  request<Workflow>(at(ws, id), { method: 'PATCH', body: { name } });
