import type { Query } from './client';

/** Every key of the query cache, in one place. A shorter key invalidates all that begin with it. */
export const keys = {
  session: ['session'] as const,
  workspace: (ws: string) => ['ws', ws] as const,
  kinds: (ws: string) => ['ws', ws, 'kinds'] as const,
  workflows: (ws: string) => ['ws', ws, 'workflows'] as const,
  workflow: (ws: string, id: string) => ['ws', ws, 'workflows', id] as const,
  draft: (ws: string, id: string) => ['ws', ws, 'workflows', id, 'draft'] as const,
  doctor: (ws: string, id: string) => ['ws', ws, 'workflows', id, 'doctor'] as const,
  versions: (ws: string, id: string) => ['ws', ws, 'workflows', id, 'versions'] as const,
  runs: (ws: string, filters?: Query) =>
    filters ? (['ws', ws, 'runs', 'list', filters] as const) : (['ws', ws, 'runs', 'list'] as const),
  run: (ws: string, id: string) => ['ws', ws, 'runs', 'one', id] as const,
  step: (ws: string, id: string, path: string) => ['ws', ws, 'runs', 'one', id, 'step', path] as const,
  logs: (ws: string, id: string, path: string, attempt: number) =>
    ['ws', ws, 'runs', 'one', id, 'logs', path, attempt] as const,
  items: (ws: string, id: string, path: string, status: string) =>
    ['ws', ws, 'runs', 'one', id, 'items', path, status] as const,
  runCount: (ws: string, filters: Query) => ['ws', ws, 'runs', 'count', filters] as const,
  labels: (ws: string) => ['ws', ws, 'labels'] as const,
  views: (ws: string) => ['ws', ws, 'views'] as const,
  bulks: (ws: string) => ['ws', ws, 'bulk'] as const,
  bulk: (ws: string, id: string) => ['ws', ws, 'bulk', 'one', id] as const,
  failures: (ws: string) => ['ws', ws, 'failures'] as const,
  failureCount: (ws: string) => ['ws', ws, 'failures', 'count'] as const,
  waits: (ws: string) => ['ws', ws, 'waits'] as const,
  wait: (ws: string, id: string) => ['ws', ws, 'waits', id] as const,
  connections: (ws: string) => ['ws', ws, 'connections'] as const,
  connectionKinds: (ws: string) => ['ws', ws, 'connection-kinds'] as const,
  members: (ws: string) => ['ws', ws, 'members'] as const,
  mailbox: (ws: string) => ['ws', ws, 'mailbox'] as const,
  mail: (ws: string, id: string) => ['ws', ws, 'mailbox', id] as const,
};
