import { type Query, request } from './client';
import type { Decision, EventsPage, LogChunk, Page, ResumePreview, Run, Snapshot, Step, StepDetail } from './types';

/** A run's address: in which workspace, and which. */
export interface RunRef {
  ws: string;
  run: string;
}

interface Call {
  signal?: AbortSignal | undefined;
}

/** Paths of items hold brackets: `each[17].ocr`. */
const at = ({ ws, run }: RunRef) => `/workspaces/${encodeURIComponent(ws)}/runs/${encodeURIComponent(run)}`;
const stepAt = (ref: RunRef, path: string) => `${at(ref)}/steps/${encodeURIComponent(path)}`;

export const newCommandId = (): string => crypto.randomUUID();

export const listRuns = (ws: string, query: Query, { signal }: Call = {}) =>
  request<Page<Run>>(`/workspaces/${encodeURIComponent(ws)}/runs`, { query, signal });

export const startRun = (
  ws: string,
  workflow: string,
  body: { input: unknown; version?: number; idempotency_key?: string },
) => request<Run>(`/workspaces/${encodeURIComponent(ws)}/workflows/${workflow}/runs`, { method: 'POST', body });

export const readSnapshot = (ref: RunRef, { signal }: Call = {}) => request<Snapshot>(at(ref), { signal });

export const readEvents = (ref: RunRef, after: number, { signal }: Call = {}) =>
  request<EventsPage>(`${at(ref)}/events`, { query: { after }, signal });

export const readStep = (ref: RunRef, path: string, { signal }: Call = {}) =>
  request<StepDetail>(stepAt(ref, path), { signal });

export const readLogs = (ref: RunRef, path: string, query: { attempt: number; after: number } & Call) =>
  request<LogChunk>(`${stepAt(ref, path)}/logs`, {
    query: { attempt: query.attempt, after: query.after },
    signal: query.signal,
  });

export const readItems = (ref: RunRef, path: string, query: Query, { signal }: Call = {}) =>
  request<Page<Step>>(`${at(ref)}/items/${encodeURIComponent(path)}`, { query, signal });

export const previewResume = (ref: RunRef, paths?: string[]) =>
  request<ResumePreview>(`${at(ref)}/preview`, {
    method: 'POST',
    body: paths ? { operation: 'resume', paths } : { operation: 'resume' },
  });

export interface ResumeCommand {
  command_id: string;
  generation: number;
  /** The token of the plan that was shown: the act does just that, or is refused. */
  plan: string | null;
  paths?: string[];
}

export const resumeRun = (ref: RunRef, body: ResumeCommand) =>
  request<{ generation: number; again: string[] }>(`${at(ref)}/resume`, { method: 'POST', body });

export const cancelRun = (ref: RunRef, body: { command_id: string }) =>
  request<unknown>(`${at(ref)}/cancel`, { method: 'POST', body });

export interface DecideCommand {
  command_id: string;
  generation: number;
  decision: Decision;
  output?: unknown;
}

export const decideStep = (ref: RunRef, path: string, body: DecideCommand) =>
  request<unknown>(`${stepAt(ref, path)}/decide`, { method: 'POST', body });
