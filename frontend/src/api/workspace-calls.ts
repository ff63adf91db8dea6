import { request } from './client';
import type {
  Connection,
  ConnectionKind,
  Mail,
  Member,
  OpenedMail,
  OpenWait,
  Page,
  Session,
  StepKind,
  Workflow,
} from './types';

const at = (ws: string) => `/workspaces/${encodeURIComponent(ws)}`;

interface Call {
  signal?: AbortSignal | undefined;
}

export const readSession = ({ signal }: Call = {}) => request<Session>('/session', { signal });

export const listKinds = (ws: string, { signal }: Call = {}) =>
  request<{ items: StepKind[] }>(`${at(ws)}/step-kinds`, { signal });

export const listWorkflows = (ws: string, { signal }: Call = {}) =>
  request<Page<Workflow>>(`${at(ws)}/workflows`, { query: { limit: 200 }, signal });

export const listWaits = (ws: string, { signal }: Call = {}) =>
  request<Page<OpenWait>>(`${at(ws)}/waits`, { query: { kind: 'approval' }, signal });

export interface AnswerCommand {
  command_id: string;
  decision: 'approved' | 'rejected';
  comment?: string;
  data?: unknown;
}

export const answerWait = (ws: string, id: string, body: AnswerCommand) =>
  request<unknown>(`${at(ws)}/waits/${encodeURIComponent(id)}/answer`, { method: 'POST', body });

export const listConnections = (ws: string, { signal }: Call = {}) =>
  request<Page<Connection>>(`${at(ws)}/connections`, { signal });

export const listConnectionKinds = (ws: string, { signal }: Call = {}) =>
  request<{ items: ConnectionKind[] }>(`${at(ws)}/connection-kinds`, { signal });

export const createConnection = (ws: string, body: unknown) =>
  request<Connection>(`${at(ws)}/connections`, { method: 'POST', body });

export const updateConnection = (ws: string, id: string, body: unknown) =>
  request<Connection>(`${at(ws)}/connections/${encodeURIComponent(id)}`, { method: 'PUT', body });

export const deleteConnection = (ws: string, id: string) =>
  request<unknown>(`${at(ws)}/connections/${encodeURIComponent(id)}`, { method: 'DELETE' });

export const listMembers = (ws: string, { signal }: Call = {}) =>
  request<Page<Member>>(`${at(ws)}/members`, { signal });

export const listMails = (ws: string, { signal }: Call = {}) => request<Page<Mail>>(`${at(ws)}/mailbox`, { signal });

export const readMail = (ws: string, id: string, { signal }: Call = {}) =>
  request<OpenedMail>(`${at(ws)}/mailbox/${encodeURIComponent(id)}`, { signal });
