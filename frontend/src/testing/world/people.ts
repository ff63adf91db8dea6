import type { Connection, Member, OpenedMail, Session, Workflow } from '../../api/types';
import { WORKFLOW } from './recorder';

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

export const SESSION: Session = {
  user: { id: 'u-ana', email: 'ana@acme.example', name: 'Ana Duarte' },
  workspaces: [
    {
      slug: 'acme',
      name: 'Acme',
      role: 'owner',
      permissions: ['view', 'run', 'approve', 'edit', 'connect', 'manage_members', 'read_audit', 'manage_workspace'],
    },
    { slug: 'lab', name: 'Lab', role: 'viewer', permissions: ['view'] },
  ],
};

export const MEMBERS: Member[] = [
  { email: 'ana@acme.example', name: 'Ana Duarte', role: 'owner' },
  { email: 'milo@acme.example', name: 'Milo Brandt', role: 'editor' },
  { email: 'ruth@acme.example', name: 'Ruth Oyelaran', role: 'operator' },
  { email: 'audit@acme.example', name: '', role: 'viewer' },
];

export const WORKFLOWS: Workflow[] = [
  {
    ...WORKFLOW,
    created_at: ago(40 * 86_400),
    updated_at: ago(7200),
    updated_by: 'Ana Duarte',
    archived_at: null,
    live_version: 3,
    draft_revision: 41,
    last_run: { id: 'run-running', number: 1045, status: 'running', started_at: ago(24) },
  },
  {
    id: 'wf-agents',
    name: 'Agents hand work on',
    created_at: ago(9 * 86_400),
    updated_at: ago(86_400),
    updated_by: 'Milo Brandt',
    archived_at: null,
    live_version: 1,
    draft_revision: 6,
    last_run: null,
  },
];

export const CONNECTIONS: Connection[] = [
  {
    id: 'c-1',
    name: 'sample-api',
    kind: 'http',
    created_at: ago(86_400 * 12),
    updated_at: ago(86_400 * 2),
    settings: { base_url: 'http://127.0.0.1:8765', user: '' },
    secrets: ['token'],
  },
  {
    id: 'c-2',
    name: 'sample-database',
    kind: 'sql',
    created_at: ago(86_400 * 12),
    updated_at: ago(86_400 * 12),
    settings: {
      engine: 'postgresql',
      host: '127.0.0.1',
      port: 5432,
      database: 'orders',
      user: 'reader',
      tls: 'prefer',
      path: '',
    },
    secrets: ['password'],
  },
  {
    id: 'c-3',
    name: 'sample-mailbox',
    kind: 'smtp',
    created_at: ago(86_400 * 12),
    updated_at: ago(86_400 * 5),
    settings: { host: '127.0.0.1', port: 8766, security: 'none', user: '', sender: 'pawl@acme.example' },
    secrets: [],
  },
];

export const MAILS: OpenedMail[] = [1036, 1035, 1034].map((number, at) => ({
  mail: {
    id: `mail-${number}`,
    subject: `Batch 2026-03 is ready to be paid (run ${number})`,
    sender: 'pawl@acme.example',
    to: 'finance@acme.example, buyers@acme.example',
    received_at: ago(3000 + at * 5400),
    message_id: `<${number}@pawl>`,
    idempotency_key: `7f3a6c1d-notify-${number}`,
  },
  text: `40 invoices of 11 suppliers, 84,310.55 EUR.\n2 invoices were corrected by the reviewer.\n\nThe payment file is at payments/2026-03/${number}.csv.\nRun ${number}`,
  has_html: false,
  attachments: [],
}));
