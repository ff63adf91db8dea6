import type {
  EventsPage,
  MapCounts,
  Run,
  RunEvent,
  RunMore,
  RunStatus,
  Snapshot,
  Step,
  StepError,
  StepRunStatus,
} from '../../api/types';
import { isObject, type Json } from '../../lib/json';
import { readPath } from './paths';

export type LiveStep = Step;

/** A run as the screen knows it after event `seq`. Immutable: steps that did not change keep their identity. */
export interface RunState {
  run: Run & RunMore;
  graph: Snapshot['graph'];
  steps: ReadonlyMap<string, LiveStep>;
  seq: number;
  /** The number of the last act of each kind that came since the page knows the run. */
  acts: { readonly [operation: string]: number };
}

export interface Reduced {
  state: RunState;
  /** Events are missing between what is known and what came: ask for those after `state.seq`. */
  gap: boolean;
  /** The events that were new, in order. */
  fresh: readonly RunEvent[];
}

const RUN_STATUSES: ReadonlySet<string> = new Set([
  'running',
  'paused',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
]);
const STEP_STATUSES: ReadonlySet<string> = new Set([
  'pending',
  'ready',
  'running',
  'retry_wait',
  'waiting',
  'needs_decision',
  'blocked',
  'succeeded',
  'failed',
  'skipped',
  'cancelled',
]);
const RUN_ENDS: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

export function fromSnapshot({ run, graph, steps, seq }: Snapshot): RunState {
  return { run, graph, seq, acts: {}, steps: new Map(steps.map((step) => [step.path, step])) };
}

/** Applies numbered events. Old ones are ignored; at a gap it stops before it, and says so. */
export function reduce(state: RunState, { items }: Pick<EventsPage, 'items'>): Reduced {
  let { run, seq, acts } = state;
  const fresh: RunEvent[] = [];
  const steps = new Map(state.steps);
  let gap = false;
  for (const event of items) {
    if (event.seq <= seq) continue;
    if (event.seq !== seq + 1) {
      gap = true;
      break;
    }
    seq = event.seq;
    fresh.push(event);
    if (event.type.startsWith('run.')) run = reduceRun(run, event);
    else if (event.type === 'command') acts = { ...acts, [String(event.data.operation)]: seq };
    else if (event.path !== null) {
      reduceStep(steps, event, { ...state, run });
      const { path } = event;
      if (run.paused_at.includes(path)) run = { ...run, paused_at: run.paused_at.filter((held) => held !== path) };
    }
  }
  return fresh.length === 0 ? { state, gap, fresh } : { state: { ...state, run, steps, seq, acts }, gap, fresh };
}

function reduceRun(run: RunState['run'], event: RunEvent): RunState['run'] {
  const status = event.type.slice('run.'.length);
  if (!RUN_STATUSES.has(status)) return run;
  const { generation, at, by } = event.data;
  const stays = by === 'parent' ? [] : run.paused_at; // only its parent holds it: what a breakpoint held is passed
  return {
    ...run,
    status: status as RunStatus,
    generation: typeof generation === 'number' ? generation : run.generation,
    error: status === 'failed' ? runErrorOf(event.data.error) : status === 'running' ? null : run.error,
    paused_at: status === 'paused' ? [...stays, ...(typeof at === 'string' ? [at] : [])] : [],
    paused_by: status === 'paused' ? pausedBy(run, by) : null,
    pause: status === 'paused' ? (run.pause ?? { since: event.at, by: event.actor, at: textOf(at) }) : null,
    finished_at: RUN_ENDS.has(status) ? event.at : null,
  };
}

function pausedBy(run: Run, by: Json | undefined): Run['paused_by'] {
  if (by === 'parent' || by === 'both' || by === 'itself') return by;
  return run.paused_by === 'parent' || run.paused_by === 'both' ? 'both' : 'itself';
}

function runErrorOf(error: Json | undefined): Run['error'] {
  if (!isObject(error)) return null;
  return { code: String(error.code), message: String(error.message) };
}

function reduceStep(steps: Map<string, LiveStep>, event: RunEvent, state: RunState): void {
  const path = event.path ?? '';
  if (event.type === 'map.progress') {
    const step = steps.get(path);
    if (step) steps.set(path, { ...step, map: countsOf(event.data, step.map) });
    return;
  }
  const status = event.type.startsWith('step.') ? event.type.slice('step.'.length) : '';
  if (!STEP_STATUSES.has(status)) return;
  const step = steps.get(path) ?? newStep(path, state);
  steps.set(path, APPLY[status as StepRunStatus]({ ...step, status: status as StepRunStatus }, event));
}

/** Where a failed step's flow goes on, by how it is handled. */
const PORT_OF = { fallback: 'out', port: 'error', not: null } as const;

/** A container ends with the last item that it opened: the event of that end stands for the last progress. */
const ended = ({ map }: LiveStep, failed: number | null, total: number | null = null): MapCounts | null =>
  map && { ...map, total: total ?? map.total, settled: map.opened, failed: failed ?? map.failed };

type Apply = (step: LiveStep, event: RunEvent) => LiveStep;

const settle: Apply = (step, event) => ({ ...step, finished_at: event.at, not_before: null, wait: null });

const reopen: Apply = (step, event) => ({
  ...step,
  error: null,
  handled: null,
  port: null,
  reason: textOf(event.data.reason),
  finished_at: null,
  duration_ms: null,
  wait: null,
});

/** What each transition changes besides the status itself (docs/architecture.md, Events). */
const APPLY: Readonly<Record<StepRunStatus, Apply>> = {
  pending: reopen,
  ready: (step, event) => ({
    ...reopen(step, event),
    reason: null,
    ready_at: event.at,
    not_before: null,
    crash_count: step.crash_count + crashOf(event),
  }),
  running: (step, event) => ({
    ...step,
    attempt: event.attempt ?? step.attempt,
    fence: numberOf(event.data.fence) ?? step.fence,
    started_at: event.at,
    finished_at: null,
    duration_ms: null,
    not_before: null,
    error: null,
    reason: null,
    wait: null,
  }),
  waiting: (step, event) => ({
    ...step,
    wait: waitOf(event.data.wait),
    not_before: textOf(event.data.until) ?? later(event.at, numberOf(event.data.seconds)),
    map: event.data.wait === 'children' ? countsOf(event.data, step.map) : step.map,
    finished_at: null,
  }),
  retry_wait: (step, event) => ({
    ...step,
    error: errorOf(event.data.error),
    not_before: textOf(event.data.not_before) ?? later(event.at, numberOf(event.data.delay_s)),
    crash_count: step.crash_count + crashOf(event),
  }),
  succeeded: (step, event) => ({
    ...settle(step, event),
    port: textOf(event.data.port),
    duration_ms: durationOf(step, event),
    origin: textOf(event.data.origin) ?? step.origin,
    reused_from: sourceOf(event.data.source) ?? step.reused_from,
    error: null,
    map: ended(step, null, numberOf(event.data.total)),
  }),
  failed: (step, event) => ({
    ...settle(step, event),
    error: errorOf(event.data.error),
    handled: handledOf(event.data.handled),
    port: PORT_OF[handledOf(event.data.handled) ?? 'not'],
    duration_ms: durationOf(step, event),
    map: ended(step, failedItems(event.data.error)),
  }),
  skipped: (step, event) => ({ ...settle(step, event), reason: textOf(event.data.reason) }),
  cancelled: (step, event) => ({ ...settle(step, event), reason: textOf(event.data.reason) }),
  blocked: (step, event) => ({ ...step, reason: textOf(event.data.reason) }),
  needs_decision: (step, event) => ({
    ...step,
    reason: textOf(event.data.reason),
    error: errorOf(event.data.error) ?? step.error,
    not_before: null,
  }),
};

/** What a step run is before anything happens to it. */
export const UNTOUCHED = {
  status: 'pending',
  attempt: 0,
  crash_count: 0,
  port: null,
  handled: null,
  reason: null,
  wait: null,
  origin: 'executed',
  reused_from: null,
  error: null,
  not_before: null,
  ready_at: null,
  started_at: null,
  finished_at: null,
  duration_ms: null,
  fence: null,
  map: null,
  child: null,
} as const;

/** A step run that the snapshot did not hold: an item that was opened since. */
function newStep(path: string, { graph }: RunState): LiveStep {
  const { key, parent, index } = readPath(path);
  const node = graph.nodes.find((one) => one.key === key);
  return {
    path,
    node: node?.id ?? '',
    key,
    parent,
    index,
    kind: node?.kind ?? '',
    ...UNTOUCHED,
    delivery: 'pure',
    idempotency_key: '',
  };
}

/** Whose result a step took, of another run or of the same one. */
function sourceOf(value: Json | undefined): LiveStep['reused_from'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { run, number, path } = value;
  return typeof run === 'string' && typeof number === 'number' && typeof path === 'string'
    ? { run, number, path }
    : null;
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
const numberOf = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null);
const handledOf = (value: Json | undefined): Step['handled'] =>
  value === 'fallback' || value === 'port' ? value : null;

const WAITS = ['timer', 'approval', 'form', 'callback', 'children', 'child'] as const;
const waitOf = (value: Json | undefined): Step['wait'] => WAITS.find((kind) => kind === value) ?? null;
const crashOf = (event: RunEvent): number => (event.data.crash === true ? 1 : 0);

function later(at: string, delay_s: number | null): string | null {
  return delay_s === null ? null : new Date(Date.parse(at) + delay_s * 1000).toISOString();
}

/** Where the event does not tell it: from the start of the attempt, as the two events say. */
function durationOf(step: LiveStep, event: RunEvent): number | null {
  const told = numberOf(event.data.duration_ms);
  if (told !== null || step.started_at === null) return told;
  return Math.max(0, Date.parse(event.at) - Date.parse(step.started_at));
}

/** Of a container that failed: how many of its items did. */
function failedItems(error: Json | undefined): number | null {
  return isObject(error) && isObject(error.data) ? numberOf(error.data.failed) : null;
}

function errorOf(value: Json | undefined): StepError | null {
  if (!isObject(value)) return null;
  return { ...value, code: textOf(value.code) ?? 'error', message: textOf(value.message) ?? '' };
}

function countsOf(data: RunEvent['data'], before: MapCounts | null): MapCounts {
  const read = (name: keyof MapCounts) => numberOf(data[name]) ?? before?.[name] ?? 0;
  return { total: read('total'), opened: read('opened'), settled: read('settled'), failed: read('failed') };
}
