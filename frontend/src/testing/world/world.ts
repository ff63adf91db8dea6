import type { OpenWait, ResumePreview, Run, RunEvent, StepDetail } from '../../api/types';
import type { Json } from '../../lib/json';
import { asValue, attemptsOf, inputOf, outputOf } from './details';
import { Lists } from './lists';
import type { Recorder } from './recorder';
import { forkOf } from './recovery';
import { brokenMapRun, cancelledRun, failedRun, runningRun, succeededRun, undecidedRun, waitingRun } from './runs';

type Listener = (run: Recorder, events: RunEvent[]) => void;

const AFTER_REVIEW = ['corrections', 'compliance', 'format', 'upload', 'notify', 'archive', 'output'];

/** A small Pawl in memory: enough of a server to look at every page, and to see a run move. For tests and screenshots. */
export class World {
  readonly runs = new Map<string, Recorder>();
  /** What was sent with the acts on steps. */
  readonly given: { [key: string]: unknown }[] = [];
  /** Plans of these runs are out of date at the next act. */
  readonly moved = new Set<string>();
  readonly lists = new Lists(this);
  private readonly listeners = new Set<Listener>();
  private readonly answered = new Set<string>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    const add = (run: Recorder) => this.runs.set(run.run.id, run);
    for (let age = 24; age > 0; age -= 1) {
      const seed = {
        id: `run-old-${age}`,
        number: 1037 - age,
        by: age % 3 ? 'Ana' : 'schedule',
        ago_s: 7200 + age * 5400,
      };
      add(age % 9 === 4 ? failedRun(seed) : age === 13 ? cancelledRun(seed) : succeededRun(seed));
    }
    add(undecidedRun({ id: 'run-undecided', number: 1039, by: 'Milo', ago_s: 3600 }));
    add(brokenMapRun({ id: 'run-map', number: 1041, ago_s: 1500 }));
    add(failedRun({ id: 'run-failed', number: 1042, ago_s: 420 }));
    add(waitingRun({ id: 'run-waiting', number: 1044, by: 'schedule', ago_s: 300 }));
    add(runningRun({ id: 'run-running', number: 1045, by: 'Ana', ago_s: 24 }));
  }

  list(): Run[] {
    return [...this.runs.values()].map((one) => one.run).sort((a, b) => b.number - a.number);
  }

  find(id: string): Recorder | undefined {
    return this.runs.get(id);
  }

  onEvents(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Does something to a run now, and tells those who listen. */
  act(run: Recorder, what: (run: Recorder) => void, by = 'system'): void {
    const before = run.events.length;
    run.actor = by;
    what(run.live());
    run.actor = 'system';
    const events = run.events.slice(before);
    for (const listener of this.listeners) listener(run, events);
  }

  waits(): OpenWait[] {
    return [...this.runs.values()]
      .filter((one) => one.state.steps.get('review')?.status === 'waiting')
      .map((one) => ({
        id: `wait-${one.run.id}`,
        run: { id: one.run.id, number: one.run.number, workflow: one.run.workflow, version: one.run.version },
        path: 'review',
        kind: 'approval',
        data: reviewData(),
        opened_at: one.events.findLast((event) => event.path === 'review')?.at ?? '',
        expires_at: null,
        status: 'open' as const,
        attempt: 1,
        answer: null,
        answered_at: null,
        answered_by: null,
        shown_hash: '0'.repeat(64),
        votes: [],
        follows: {
          ports: [
            { port: 'approved', steps: [{ key: 'send', name: 'Send the orders', kind: 'email' }], more: 0 },
            { port: 'rejected', steps: [], more: 0 },
          ],
          inside: null,
        },
      }));
  }

  preview(run: Recorder): ResumePreview {
    const top = [...run.state.steps.values()].filter((step) => step.index === null);
    const again = top.filter(
      (s) => s.status === 'failed' || s.reason === 'upstream_failed' || s.status === 'cancelled',
    );
    const kept = top.filter((step) => step.status === 'succeeded');
    return {
      generation: run.run.generation,
      nodes: [],
      plan: again.length > 0 ? `plan-${run.run.generation}` : null,
      kept: kept.map((step) => step.path),
      again: again.map((step) => step.path),
      effects: again
        .filter((step) => step.delivery !== 'pure')
        .map(({ path, delivery }) => ({ path, delivery, may_happen_twice: false })),
      child_runs: 0,
      saved_s: kept.reduce((sum, step) => sum + (step.duration_ms ?? 0), 0) / 1000,
      allowed: again.length > 0,
      refusal: again.length > 0 ? null : 'No step of this run has failed.',
    };
  }

  /** Whether the run went on since a plan was made: once, so that the next one holds. */
  isStale(run: Recorder): boolean {
    return this.moved.delete(run.run.id);
  }

  fork(run: Recorder, { path }: { path: string }): Run {
    const made = forkOf(run, path, 1050 + this.runs.size);
    this.runs.set(made.run.id, made);
    this.act(run, (one) => one.tell('command', null, { operation: 'fork' }), 'Ana');
    return made.run;
  }

  resume(run: Recorder, by: string): string[] {
    const { again } = this.preview(run);
    this.act(run, (one) => {
      one.tell('command', null, { operation: 'resume', by });
      one.tell('run.running', null, { generation: one.run.generation + 1 });
      for (const [at, path] of again.entries()) one.tell(at === 0 ? 'step.ready' : 'step.pending', path);
    });
    return again;
  }

  answer(id: string, decision: string): boolean {
    const run = this.runs.get(id.slice('wait-'.length));
    if (!run || this.answered.has(id)) return false;
    this.answered.add(id);
    this.act(run, (one) => {
      one.tell('step.succeeded', 'review', { port: decision, duration_ms: 61_000, origin: 'executed' });
      one.tell('step.skipped', decision === 'approved' ? 'rejected' : 'corrections', { reason: 'not_taken' });
      if (decision === 'approved') one.tell('step.ready', 'corrections');
    });
    return true;
  }

  /** Lets time pass: every run that may go on makes a step. */
  start(everyMs = 900): void {
    this.timer = setInterval(() => {
      for (const run of this.runs.values()) if (run.run.status === 'running') this.act(run, advance);
    }, everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  detail(run: Recorder, path: string): StepDetail | null {
    const step = run.state.steps.get(path);
    if (!step) return null;
    const wait = this.waits().find((one) => one.run.id === run.run.id && one.path === path);
    return {
      step,
      input: asValue(inputOf(step)),
      edition: 1,
      override: null,
      copied_from: null,
      output: asValue(step.status === 'succeeded' ? outputOf(step) : null),
      attempts: attemptsOf(run, path),
      checkpoints: [],
      artifacts: [],
      waits: wait ? [wait] : [],
      why: step.status === 'pending' ? 'It waits for the steps before it.' : null,
    };
  }
}

function reviewData(): { [key: string]: Json } {
  return {
    title: 'Pay the invoices of batch 2026-03?',
    message: 'Batch 2026-03: 40 invoices of 11 suppliers, 84,310.55 EUR in all.\n37 agree with their orders, 3 do not.',
    note_prompt: 'Anything the buyers should know?',
    data: {
      corrections: [
        { invoice_number: 'INV-20391', line: 2, field: 'quantity', value: 40 },
        { invoice_number: 'INV-20407', line: 1, field: 'unit_price', value: '12.90' },
        { invoice_number: 'INV-20418', field: 'po_number', value: 'PO-7731' },
      ],
    },
  };
}

function advance(run: Recorder): void {
  const map = run.state.steps.get('ocr_documents');
  if (map?.status === 'waiting' && map.map) {
    advanceMap(run, map.map.settled, map.map.total);
    return;
  }
  const going = AFTER_REVIEW.find((key) => run.state.steps.get(key)?.status === 'running');
  if (going) {
    run.tell('step.succeeded', going, { port: 'out', duration_ms: 880, origin: 'executed' });
    const next = AFTER_REVIEW[AFTER_REVIEW.indexOf(going) + 1];
    if (next) run.begin(next, (run.state.steps.get(next)?.attempt ?? 0) + 1);
    else run.tell('run.succeeded', null, {});
    return;
  }
  const ready = AFTER_REVIEW.find((key) => run.state.steps.get(key)?.status === 'ready');
  if (ready) run.begin(ready, (run.state.steps.get(ready)?.attempt ?? 0) + 1);
}

function advanceMap(run: Recorder, index: number, total: number): void {
  const at = (key: string, item = index) => `ocr_documents[${item}].${key}`;
  if (run.state.steps.get(at('read'))?.status === 'running') {
    run.tell('step.succeeded', at('read'), { port: 'out', duration_ms: 1240, origin: 'executed' });
  }
  run.step(at('extract'), 0.01);
  const settled = index + 1;
  run.tell('map.progress', 'ocr_documents', { total, opened: Math.min(total, settled + 4), settled, failed: 0 });
  const opened = index + 4;
  if (opened < total) run.step(at('download', opened), 0.01).begin(at('read', opened));
  if (settled < total) return;
  run.tell('step.succeeded', 'ocr_documents', { port: 'out', duration_ms: 48_000, origin: 'executed' });
  run.step('cross_reference', 0.2).step('report', 0.4).begin('review');
  run.tell('step.waiting', 'review', { wait: 'approval' });
}
