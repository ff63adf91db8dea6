import type { StepDetail, Usual } from '../../api/types';
import { formatDuration, formatNames } from '../../lib/format';
import { itemOf } from './paths';
import type { LiveStep, RunState } from './reducer';
import { nameOf } from './summary';

/** What unblocks a step, where this page has a hand for it. */
export type Unblock =
  | { kind: 'go'; path: string }
  | { kind: 'resume'; path: string }
  | { kind: 'continue' }
  | { kind: 'open_run'; run: string; number: number };

export interface Why {
  sentence: string;
  /** Since when it waits for that. */
  since: string | null;
  /** How long that usually takes, as far as it is known. */
  usual: string | null;
  acts: Unblock[];
}

interface Known {
  state: RunState;
  /** What the server says of it; it knows limits, workers and other runs. */
  detail: Pick<StepDetail, 'why' | 'waits' | 'attempts' | 'step'>;
  usual: Usual | undefined;
}

const isSettled = (step: LiveStep): boolean =>
  step.status === 'succeeded' ||
  (step.status === 'skipped' && step.reason !== 'upstream_failed') ||
  (step.status === 'failed' && step.handled !== null);

/** The step runs that lead into one, of the same item. */
export function stepsBefore(state: RunState, step: LiveStep): LiveStep[] {
  const item = itemOf(step.path);
  const found: LiveStep[] = [];
  for (const edge of state.graph.edges) {
    if (edge.target !== step.node) continue;
    const node = state.graph.nodes.find((one) => one.id === edge.source);
    const before = node && state.steps.get(item === null ? node.key : `${item}.${node.key}`);
    if (before && !found.includes(before)) found.push(before);
  }
  return found;
}

/** The failed steps on the ways that lead to one; the nearest first. */
export function failuresBefore(state: RunState, step: LiveStep): LiveStep[] {
  const found: LiveStep[] = [];
  const seen = new Set([step.path]);
  let edge = [step];
  while (edge.length > 0) {
    const before = edge.flatMap((one) => stepsBefore(state, one)).filter((one) => !seen.has(one.path));
    for (const one of before) seen.add(one.path);
    found.push(...before.filter((one) => one.status === 'failed' && one.handled === null));
    edge = [...new Set(before)].filter((one) => one.status !== 'failed');
  }
  return [...new Set(found)];
}

const latest = (times: readonly (string | null)[]): string | null =>
  times.filter((at) => at !== null).reduce<string | null>((best, at) => (best === null || at > best ? at : best), null);

function whyPending(step: LiveStep, { state, detail, usual }: Known): Why {
  const before = stepsBefore(state, step);
  const open = before.filter((one) => !isSettled(one));
  const names = formatNames(open.map((one) => `'${nameOf(state.graph, one.path)}'`));
  const began = usual ? `it usually begins ${formatDuration(usual.began_ms)} into the run` : null;
  return {
    sentence: open.length > 0 ? `Waits for ${names} to end.` : (detail.why ?? 'Waits for the steps before it.'),
    since: latest(before.filter(isSettled).map((one) => one.finished_at)) ?? state.run.started_at,
    usual: began,
    acts: open.slice(0, 1).map((one) => ({ kind: 'go', path: one.path })),
  };
}

function whyReady(step: LiveStep, { state, detail, usual }: Known): Why {
  const { run } = state;
  const isHeld = run.status === 'paused' && run.paused_by !== 'parent';
  const acts: Unblock[] = isHeld ? [{ kind: 'continue' }] : [];
  if (run.paused_by === 'parent' && run.parent) {
    acts.push({ kind: 'open_run', run: run.parent.run, number: run.parent.number });
  }
  const queued = usual?.queued_ms;
  return {
    sentence: detail.why ?? 'Ready: waits for a free worker.',
    since: step.ready_at,
    usual: queued === null || queued === undefined ? null : `it usually waits ${formatDuration(queued)} for one`,
    acts,
  };
}

function whyWaiting(step: LiveStep, { detail, usual }: Known): Why | null {
  if (step.map || !detail.why) return null;
  const open = detail.waits.find((wait) => wait.status === 'open');
  const child = step.wait === 'child' ? detail.step.child : null;
  return {
    sentence: detail.why,
    since: open?.opened_at ?? step.started_at,
    usual: usual ? `it usually takes ${formatDuration(usual.took_ms)}` : null,
    acts: child ? [{ kind: 'open_run', run: child.id, number: child.number }] : [],
  };
}

function whyFailedBefore(step: LiveStep, { state, detail }: Known): Why {
  const failed = failuresBefore(state, step);
  const names = formatNames(failed.map((one) => `'${nameOf(state.graph, one.path)}'`));
  const acts = failed.slice(0, 1).flatMap(({ path }): Unblock[] => [
    { kind: 'resume', path },
    { kind: 'go', path },
  ]);
  return {
    sentence:
      failed.length > 0 ? `Not reached: ${names} failed before it.` : (detail.why ?? 'A step before it failed.'),
    since: latest(failed.map((one) => one.finished_at)),
    usual: null,
    acts,
  };
}

/** Why a step does not run, since when, how long that usually takes, and what unblocks it; null where it runs or ended. */
export function whyOf(step: LiveStep, known: Known): Why | null {
  const { detail, state } = known;
  const isOver = state.run.finished_at !== null;
  switch (step.status) {
    case 'pending':
      return isOver ? null : whyPending(step, known);
    case 'ready':
      return whyReady(step, known);
    case 'waiting':
      return whyWaiting(step, known);
    case 'retry_wait':
      return {
        sentence: detail.why ?? 'An attempt failed; the next one starts by itself.',
        since: detail.attempts.at(-1)?.finished_at ?? null,
        usual: null,
        acts: [],
      };
    case 'blocked':
      return whyFailedBefore(step, known);
    case 'skipped':
      return step.reason === 'upstream_failed' ? whyFailedBefore(step, known) : null;
    case 'needs_decision':
      return {
        sentence: detail.why ?? 'A person decides what became of it.',
        since: detail.attempts.at(-1)?.finished_at ?? null,
        usual: null,
        acts: [],
      };
    default:
      return null;
  }
}
