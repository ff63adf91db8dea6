import { type Query, request } from './client';
import type { EventsPage, LogChunk, Page, Pulse, Run, RunsPage, Snapshot, Step, StepDetail, Usual } from './types';

/** A run's address: in which workspace, and which. */
export interface RunRef {
  ws: string;
  run: string;
}

interface Call {
  signal?: AbortSignal | undefined;
}

/** Paths of items hold brackets: `each[17].ocr`. */
export const runAt = ({ ws, run }: RunRef) => `/workspaces/${encodeURIComponent(ws)}/runs/${encodeURIComponent(run)}`;
export const stepAt = (ref: RunRef, path: string) => `${runAt(ref)}/steps/${encodeURIComponent(path)}`;

export const newCommandId = (): string => crypto.randomUUID();

export const listRuns = (ws: string, query: Query, { signal }: Call = {}) =>
  request<RunsPage>(`/workspaces/${encodeURIComponent(ws)}/runs`, { query, signal });

export const startRun = (
  ws: string,
  workflow: string,
  body: { input: unknown; version?: number; idempotency_key?: string },
) => request<Run>(`/workspaces/${encodeURIComponent(ws)}/workflows/${workflow}/runs`, { method: 'POST', body });

export const readSnapshot = (ref: RunRef, { signal }: Call = {}) => request<Snapshot>(runAt(ref), { signal });

export const readEvents = (ref: RunRef, after: number, { signal }: Call = {}) =>
  request<EventsPage>(`${runAt(ref)}/events`, { query: { after }, signal });

/** Who is at work and was heard when, and how far each step got. */
export const readPulse = (ref: RunRef, { signal }: Call = {}) =>
  request<{ items: Pulse[] }>(`${runAt(ref)}/pulse`, { signal });

/** How long steps took in the last other runs of the workflow. */
export const readUsual = (ref: RunRef, { signal }: Call = {}) =>
  request<{ items: Usual[] }>(`${runAt(ref)}/usual`, { signal });

export const readStep = (ref: RunRef, path: string, { signal }: Call = {}) =>
  request<StepDetail>(stepAt(ref, path), { signal });

export const readLogs = (ref: RunRef, path: string, query: { attempt: number; after: number } & Call) =>
  request<LogChunk>(`${stepAt(ref, path)}/logs`, {
    query: { attempt: query.attempt, after: query.after },
    signal: query.signal,
  });

export const readItems = (ref: RunRef, path: string, query: Query, { signal }: Call = {}) =>
  request<Page<Step>>(`${runAt(ref)}/items/${encodeURIComponent(path)}`, { query, signal });

export const cancelRun = (ref: RunRef, body: { command_id: string }) =>
  request<unknown>(`${runAt(ref)}/cancel`, { method: 'POST', body });

/** Nothing new starts; what runs goes on to its end. */
export const pauseRun = (ref: RunRef, body: { command_id: string }) =>
  request<unknown>(`${runAt(ref)}/pause`, { method: 'POST', body });

/** Goes on, also past the steps that a breakpoint holds just now. */
export const unpauseRun = (ref: RunRef, body: { command_id: string }) =>
  request<unknown>(`${runAt(ref)}/unpause`, { method: 'POST', body });
