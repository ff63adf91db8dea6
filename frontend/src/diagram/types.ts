/** The words that the canvas and the monitor share: the graph document, the step library, a node's live state. */

import type { Json, JsonObject } from '../lib/json';

export type { Json, JsonObject };

export interface Point {
  x: number;
  y: number;
}

export interface Policy {
  retry?: {
    attempts?: number;
    first_delay_s?: number;
    factor?: number;
    max_delay_s?: number;
    jitter?: number;
    on?: string[] | null;
  };
  limit_s?: number | null;
  idle_limit_s?: number | null;
  queue_limit_s?: number | null;
  total_limit_s?: number | null;
  skip_if?: string | null;
  on_error?: 'fail' | 'fallback' | 'port';
  fallback?: Json;
  on_upstream_failure?: 'skip' | 'wait' | 'default' | 'fail';
  default?: Json;
  join?: 'all' | 'any' | 'first' | 'count';
  join_count?: number | null;
  queue?: string;
  limit_key?: string | null;
  limit_at_most?: number | null;
  rate_starts?: number | null;
  rate_per_s?: number | null;
  delivery?: 'at_most_once' | null;
  reuse?: 'run' | 'workflow' | 'workspace' | null;
  reuse_for_s?: number | null;
  reuse_effects?: boolean;
}

/** `id` never changes; `key` is what expressions say. Positions are relative to the container, where there is one. */
export interface GraphNode {
  id: string;
  key: string;
  name: string;
  kind: string;
  config: JsonObject;
  policy: Policy;
  parent: string | null;
  position: Point;
  /** Switched off: a run passes through it by its first port, with what came into it as its output. */
  disabled?: boolean;
}

export interface GraphEdge {
  id: string;
  source: string;
  source_port: string;
  target: string;
}

export const NOTE_COLOURS = ['yellow', 'blue', 'green', 'grey'] as const;
export type NoteColour = (typeof NOTE_COLOURS)[number];

/** Words beside the steps, in Markdown. Nothing of a note is ever run. */
export interface GraphNote {
  id: string;
  text: string;
  colour: NoteColour;
  position: Point;
  size: { width: number; height: number };
}

/** Steps and notes of one level that are shown as one thing. It changes how the graph looks, never what it does. */
export interface GraphGroup {
  id: string;
  name: string;
  members: readonly string[];
  collapsed: boolean;
}

/** Fields that this version does not know travel along: every change copies the object and replaces what it names. */
export interface GraphDocument {
  schema: number;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  notes?: readonly GraphNote[];
  groups?: readonly GraphGroup[];
}

export interface Port {
  name: string;
  title: string;
}

export type Delivery = 'pure' | 'keyed' | 'at_most_once';

/** An entry of the step library, as GET /step-kinds gives it. */
export interface StepKind {
  kind: string;
  title: string;
  group: string;
  icon: string;
  summary: string;
  schema: JsonObject;
  ports: readonly Port[];
  delivery: Delivery;
  execution: 'body' | 'compute' | 'wait' | 'container';
  has_input: boolean;
  /** Of a container: the names that expressions inside it know. */
  gives?: readonly string[];
  connection_kinds: readonly string[];
  default_limit_s: number;
  readme?: string;
}

export type KindsByName = ReadonlyMap<string, StepKind>;

/**
 * 'was_running' is a running one of which nothing is heard any more; 'reused' is a succeeded step whose result came from an earlier generation or another run; 'not_reached' a step that was
 * skipped because one before it failed: a resume opens it again, unlike a branch that was not taken.
 */
export type StepStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'was_running'
  | 'waiting'
  | 'retry_wait'
  | 'needs_decision'
  | 'failed'
  | 'blocked'
  | 'skipped'
  | 'not_reached'
  | 'reused'
  | 'succeeded'
  | 'cancelled';

/** What a node shows of its live state. Its identity must only change when something to be seen changes. */
export interface NodeStatus {
  status: StepStatus;
  /** One sentence for hover: what it is, and since when. */
  sentence?: string;
  /** A few characters beside the word: 'attempt 2 of 3', '40/40', '1.2 s'. */
  detail?: string;
  /** Of a container: items settled so far. */
  progress?: { settled: number; total: number; failed: number };
}

/** In a resume preview: dimmed and kept, outlined because it runs again, amber because its effect may happen twice. */
export type NodeMark = 'kept' | 'again' | 'effect';

/** Between two versions: green, red and amber, each with its sign and word. */
export type ChangeMark = 'added' | 'removed' | 'changed';

export type Mark = NodeMark | ChangeMark;

export const ERROR_PORT = 'error';
export const OUT_PORT = 'out';
