/** What the HTTP API and the live socket say (docs/architecture.md). Names and shapes are the server's. */
import type { GraphDocument, StepKind } from '../diagram';
import type { Json } from '../lib/json';

export type Permission =
  | 'view'
  | 'run'
  | 'approve'
  | 'edit'
  | 'connect'
  | 'manage_members'
  | 'read_audit'
  | 'manage_workspace';

export interface Page<T> {
  items: T[];
  next: string | null;
}

export interface WorkspaceAccess {
  slug: string;
  name: string;
  role: string;
  permissions: Permission[];
}

export interface Session {
  user: { id: string; email: string; name: string };
  workspaces: WorkspaceAccess[];
}

export type RunStatus = 'running' | 'paused' | 'cancelling' | 'succeeded' | 'failed' | 'cancelled';

export type StepRunStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'retry_wait'
  | 'waiting'
  | 'needs_decision'
  | 'blocked'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'cancelled';

export interface StepError {
  code: string;
  message: string;
  data?: Json;
}

export interface RunCounts {
  total: number;
  [status: string]: number;
}

export interface Run {
  id: string;
  number: number;
  status: RunStatus;
  workflow: { id: string; name: string };
  version: number;
  started_by: string;
  started_at: string;
  finished_at: string | null;
  counts: RunCounts;
  failed_step: string | null;
  waits_for: string | null;
  generation: number;
  error?: StepError | null;
}

export interface MapCounts {
  total: number;
  opened: number;
  settled: number;
  failed: number;
}

export interface Step {
  path: string;
  node: string;
  key: string;
  parent: string | null;
  index: number | null;
  kind: string;
  status: StepRunStatus;
  attempt: number;
  crash_count: number;
  port: string | null;
  handled: 'fallback' | 'port' | null;
  reason: string | null;
  origin: string | null;
  error: StepError | null;
  not_before: string | null;
  ready_at: string | null;
  started_at: string | null;
  finished_at: string | null;
  duration_ms: number | null;
  delivery: 'pure' | 'keyed' | 'at_most_once';
  idempotency_key: string | null;
  fence: number | null;
  map: MapCounts | null;
}

export interface RunEvent {
  seq: number;
  type: string;
  at: string;
  path: string | null;
  attempt: number | null;
  actor: string;
  data: { [key: string]: Json };
}

export interface Snapshot {
  run: Run;
  graph: GraphDocument;
  steps: Step[];
  seq: number;
}

export interface EventsPage {
  items: RunEvent[];
  last: number;
}

export interface Attempt {
  number: number;
  fence: number;
  outcome: 'succeeded' | 'failed' | 'timed_out' | 'lost' | 'cancelled' | 'fenced_out' | 'waited' | null;
  started_at: string;
  finished_at: string | null;
  error: StepError | null;
  worker: string | null;
}

export interface Checkpoint {
  name: string;
  attempt: number;
  at: string;
  value: Json;
}

export interface StepWait {
  id: string;
  kind: 'timer' | 'approval' | 'children';
  status?: string;
  data: { [key: string]: Json };
  opened_at: string;
  expires_at: string | null;
  answered_at?: string | null;
  answered_by?: string | null;
  answer?: Json;
}

export interface StepDetail {
  step: Step;
  input: Json;
  output: Json;
  attempts: Attempt[];
  checkpoints: Checkpoint[];
  waits: StepWait[];
  why: string | null;
}

export interface LogChunk {
  text: string;
  next_offset: number;
  complete: boolean;
}

export interface PlannedEffect {
  path: string;
  delivery: Step['delivery'];
  may_happen_twice: boolean;
}

export interface ResumePreview {
  kept: string[];
  again: string[];
  effects: PlannedEffect[];
  saved_s: number;
  allowed: boolean;
  refusal?: string | null;
}

export type Decision = 'happened' | 'not_happened' | 'run_again' | 'skip';

export interface OpenWait {
  id: string;
  run: Pick<Run, 'id' | 'number' | 'workflow'>;
  path: string;
  kind: string;
  data: { [key: string]: Json };
  opened_at: string;
  expires_at: string | null;
}

export interface Workflow {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
  updated_by: string | null;
  archived_at?: string | null;
  live_version: number | null;
  draft_revision: number;
  last_run: Pick<Run, 'id' | 'number' | 'status' | 'started_at'> | null;
}

export interface Connection {
  id: string;
  name: string;
  kind: string;
  created_at: string;
  updated_at: string;
  /** Without the secret ones. */
  settings: { [field: string]: Json };
  /** Names of the secret settings that hold something. */
  secrets: string[];
}

export interface ConnectionKind {
  kind: string;
  schema: { [keyword: string]: Json };
  secret_fields: string[];
}

export interface Member {
  email: string;
  name: string;
  role: string;
}

export interface Mail {
  id: string;
  subject: string;
  sender: string;
  to: string;
  received_at: string;
  message_id: string;
  idempotency_key: string;
}

/** An HTML part is never given out; `has_html` says that there is one. */
export interface OpenedMail {
  mail: Mail;
  text: string;
  has_html: boolean;
  attachments: string[];
}

export type { GraphDocument, StepKind };
