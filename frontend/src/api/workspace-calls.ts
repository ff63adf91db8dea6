import { request } from './client';
import type {
  Answered,
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

export const readWorkflow = (ws: string, id: string, { signal }: Call = {}) =>
  request<Workflow>(`${at(ws)}/workflows/${encodeURIComponent(id)}`, { signal });

export const listWaits = (ws: string, { signal }: Call = {}) => request<Page<OpenWait>>(`${at(ws)}/waits`, { signal });

/** One question, also where it is closed: what a link in a mail leads to. */
export const readWait = (ws: string, id: string, { signal }: Call = {}) =>
  request<OpenWait>(`${at(ws)}/waits/${encodeURIComponent(id)}`, { signal });

export interface AnswerCommand {
  command_id: string;
  decision: 'approved' | 'rejected' | 'submitted';
  comment?: string;
  data?: unknown;
  /** The `shown_hash` of what the person saw: another question takes no such answer. */
  seen?: string;
}

export const answerWait = (ws: string, id: string, body: AnswerCommand) =>
  request<Answered>(`${at(ws)}/waits/${encodeURIComponent(id)}/answer`, { method: 'POST', body });

/** The link that answers a step which waits for a callback. Whoever has it may answer; asking for it is recorded. */
export const makeCallbackLink = (ws: string, run: string, path: string) =>
  request<{ url: string }>(
    `${at(ws)}/runs/${encodeURIComponent(run)}/steps/${encodeURIComponent(path)}/callback-link`,
    { method: 'POST', body: {} },
  );

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
