import type { Run, RunEvent, Snapshot, Step } from '../../api/types';
import { fromSnapshot, type RunState, reduce } from '../../features/monitor/reducer';
import type { Json } from '../../lib/json';
import graphDocument from '../fixtures/supplier-invoices.json';

export type Data = { [key: string]: Json };
export const GRAPH = graphDocument as unknown as Snapshot['graph'];
export const WORKFLOW = { id: 'wf-invoices', name: 'Supplier invoices' };

const KINDS_WITH_EFFECT = new Set(['http_request', 'email']);

function pendingStep(node: (typeof GRAPH.nodes)[number]): Step {
  return {
    path: node.key,
    node: node.id,
    key: node.key,
    parent: null,
    index: null,
    kind: node.kind,
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
    delivery: KINDS_WITH_EFFECT.has(node.kind) ? 'keyed' : 'pure',
    idempotency_key: `7f3a${node.key.length}c1d-${node.key}-9b02e6`,
    fence: null,
    map: null,
    child: null,
  };
}

export interface RunSeed {
  id: string;
  number: number;
  by?: string;
  /** When it began, before now. */
  ago_s: number;
}

/** Plays a run by telling its events, as the engine would; its snapshot is what the events make of an untouched run. */
export class Recorder {
  state: RunState;
  readonly events: RunEvent[] = [];
  /** Who does what is told next. */
  actor = 'system';
  private now: number;

  constructor({ id, number, by = 'Ana', ago_s }: RunSeed) {
    this.now = Date.now() - ago_s * 1000;
    const run: Run = {
      id,
      number,
      status: 'running',
      workflow: WORKFLOW,
      version: 3,
      started_by: by,
      forked_from: null,
      started_at: new Date(this.now).toISOString(),
      finished_at: null,
      trigger: by === 'schedule' ? 'schedule' : 'manual',
      trigger_id: null,
      counts: { total: 0, open: 0, running: 0, waiting: 0, failed: 0, succeeded: 0 },
      failed_step: null,
      waits_for: null,
      paused_at: [],
      paused_by: null,
      error: null,
      labels: [],
      deadline_at: null,
      generation: 1,
    };
    const steps = GRAPH.nodes.filter((node) => node.parent === null).map(pendingStep);
    this.state = fromSnapshot({ run, graph: GRAPH, steps, seq: 0 });
    this.tell('run.running', null, { generation: 1 });
  }

  get run(): Run {
    return this.state.run;
  }

  after(seconds: number): this {
    this.now += seconds * 1000;
    return this;
  }

  /** From here on events happen when they are told. */
  live(): this {
    this.now = Date.now();
    return this;
  }

  tell(type: string, path: string | null, data: Data = {}, attempt?: number): RunEvent {
    const event: RunEvent = {
      seq: this.state.seq + 1,
      type,
      at: new Date(this.now).toISOString(),
      path,
      attempt: path === null ? null : (attempt ?? (this.state.steps.get(path)?.attempt || null)),
      actor: this.actor,
      data,
    };
    this.events.push(event);
    this.state = reduce(this.state, { items: [event] }).state;
    this.recount();
    return event;
  }

  begin(path: string, attempt = 1): this {
    this.tell('step.running', path, { fence: 100 + this.state.seq, worker: 'worker-1:3f2a' }, attempt);
    return this;
  }

  succeed(path: string, seconds: number, port = 'out'): this {
    this.after(seconds);
    this.tell('step.succeeded', path, { port, duration_ms: Math.round(seconds * 1000), origin: 'executed' });
    return this;
  }

  step(path: string, seconds: number, port = 'out'): this {
    return this.begin(path).succeed(path, seconds, port);
  }

  private recount(): void {
    const top = [...this.state.steps.values()].filter((step) => step.index === null);
    const count = (status: string) => top.filter((step) => step.status === status).length;
    const counts = {
      total: top.length,
      open: top.filter((step) => step.finished_at === null).length,
      succeeded: count('succeeded'),
      failed: count('failed'),
      running: count('running') + top.filter((step) => step.map && step.status === 'waiting').length,
      waiting: count('waiting'),
    };
    const failed = top.find((step) => step.status === 'failed');
    const waiting = top.find((step) => step.status === 'waiting' && !step.map);
    this.state = {
      ...this.state,
      run: {
        ...this.state.run,
        counts,
        failed_step: failed ? { path: failed.path, error: failed.error } : null,
        waits_for: waiting ? { path: waiting.path, kind: waiting.wait ?? 'approval' } : null,
      },
    };
  }

  snapshot(): Snapshot {
    return { run: this.run, graph: GRAPH, steps: [...this.state.steps.values()], seq: this.state.seq };
  }
}
