import { request } from '../../api/client';
import type { Page, Workflow } from '../../api/types';
import type { GraphDocument } from '../../diagram';

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}/workflows`;

export interface WorkflowFilter {
  q: string;
  archived: boolean;
}

interface PageCall extends WorkflowFilter {
  cursor: string | null;
  signal?: AbortSignal | undefined;
}

export const findWorkflows = (ws: string, { q, archived, cursor, signal }: PageCall) =>
  request<Page<Workflow>>(at(ws), { query: { q, archived: archived ? 'true' : null, cursor, limit: 50 }, signal });

export const createWorkflow = (ws: string, body: { name: string; graph?: GraphDocument }) =>
  request<Workflow>(at(ws), { method: 'POST', body });

export const changeWorkflow = (ws: string, id: string, body: { name?: string; archived?: boolean }) =>
  request<Workflow>(`${at(ws)}/${encodeURIComponent(id)}`, { method: 'PATCH', body });
