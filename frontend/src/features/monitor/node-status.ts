import type { GraphNode, NodeStatus, StepStatus } from '../../diagram';
import { formatClock, formatDuration } from '../../lib/format';
import type { LiveStep, RunState } from './reducer';

/**
 * As what a step is shown: a finished one whose result this run took from another one as `reused`, one that was skipped
 * because of a failure as not reached, and a container that works on its items as running, although it holds no worker.
 */
export function shownStatus(step: LiveStep): StepStatus {
  if (step.status === 'succeeded' && (step.origin === 'reused' || step.origin === 'copied')) return 'reused';
  if (step.status === 'skipped' && step.reason === 'upstream_failed') return 'not_reached';
  return step.status === 'waiting' && step.map !== null ? 'running' : step.status;
}

/** One sentence: what the step is, and since when. */
export function statusSentence(step: LiveStep): string {
  const since = (at: string | null) => (at ? ` since ${formatClock(at)}` : '');
  switch (step.status) {
    case 'pending':
      return 'Has not begun; it waits for the steps before it.';
    case 'ready':
      return `Waits for a free worker${since(step.ready_at)}.`;
    case 'running':
      return `Attempt ${step.attempt} is running${since(step.started_at)}.`;
    case 'retry_wait':
      return `Attempt ${step.attempt} failed; the next one starts${step.not_before ? ` at ${formatClock(step.not_before)}` : ' soon'}.`;
    case 'waiting':
      return waitingSentence(step);
    case 'needs_decision':
      return `Attempt ${step.attempt} ended without a word. Nobody knows whether it took effect: decide before it goes on.`;
    case 'blocked':
      return 'A step before it failed. It goes on once that one is mended.';
    case 'succeeded':
      return succeededSentence(step);
    case 'failed':
      return `Failed at attempt ${step.attempt}${step.finished_at ? `, ${formatClock(step.finished_at)}` : ''}.`;
    case 'skipped':
      return SKIPPED[step.reason ?? ''] ?? 'Was left out; nothing ran.';
    case 'cancelled':
      if (step.reason === 'outrun') return 'Another way was first; this one was stopped and no longer matters.';
      return `Was stopped${step.finished_at ? ` at ${formatClock(step.finished_at)}` : ''}.`;
  }
}

const SKIPPED: { [reason: string]: string } = {
  not_taken: 'Its branch was not chosen; nothing ran.',
  upstream_failed: 'A step that it needs failed; a resume opens it again.',
  by_person: 'A person chose to skip it.',
  skip_if: 'Its behaviour says so: “leave it out if” was true.',
};

function waitingSentence(step: LiveStep): string {
  if (step.kind === 'loop' && step.map) return `Round ${step.map.opened} of at most ${step.map.total}.`;
  if (step.kind === 'try_block') return 'Works on the steps inside.';
  if (step.map) return `Works on its items: ${step.map.settled} of ${step.map.total} are done.`;
  if (step.wait === 'timer' || step.kind === 'delay') {
    return step.not_before ? `Waits until ${formatClock(step.not_before)}. It holds no worker.` : 'Waits for a time.';
  }
  if (step.wait === 'callback') return 'Waits for another program to call back. It holds no worker.';
  if (step.wait === 'child') return 'Waits for the run that it has started. It holds no worker.';
  return 'Waits for a person. It holds no worker.';
}

function succeededSentence(step: LiveStep): string {
  if (step.origin === 'manual') return 'A person gave this result by hand.';
  if (shownStatus(step) === 'reused') return 'Its result was taken over from another run; nothing ran.';
  const tries = step.attempt > 1 ? ` at attempt ${step.attempt}` : '';
  return `Finished${tries} in ${formatDuration(step.duration_ms)}. Its result is committed and is never run again.`;
}

function detailOf(step: LiveStep): string | undefined {
  if (step.map && step.map.total > 0) return `${step.map.settled}/${step.map.total}`;
  const tries = step.attempt > 1 ? `attempt ${step.attempt}` : undefined;
  if (step.status === 'succeeded') {
    const took = step.duration_ms === null ? undefined : formatDuration(step.duration_ms);
    return tries && took ? `${tries} · ${took}` : (tries ?? took);
  }
  return step.status === 'running' || step.status === 'failed' || step.status === 'retry_wait' ? tries : undefined;
}

const seen = new WeakMap<LiveStep, NodeStatus>();

/** What a node shows of its step. The same step gives the same object, so a node is drawn again only when it changed. */
export function nodeStatus(step: LiveStep): NodeStatus {
  const known = seen.get(step);
  if (known) return known;
  const { map } = step;
  const detail = detailOf(step);
  const status: NodeStatus = {
    status: shownStatus(step),
    sentence: statusSentence(step),
    ...(detail ? { detail } : {}),
    ...(map && map.total > 0 ? { progress: { settled: map.settled, total: map.total, failed: map.failed } } : {}),
  };
  seen.set(step, status);
  return status;
}

/** In which order the items of a body decide what their node shows: the most urgent first. */
const URGENCY: readonly StepStatus[] = [
  'failed',
  'needs_decision',
  'running',
  'retry_wait',
  'waiting',
  'ready',
  'blocked',
  'cancelled',
  'pending',
  'not_reached',
  'succeeded',
  'reused',
  'skipped',
];

/**
 * The step run that stands for a node: its own at the top; inside a container the one of the chosen item, else the most
 * urgent of those that are known.
 */
export function stepOfNode(state: RunState, node: GraphNode, item: string | null): LiveStep | undefined {
  if (node.parent === null) return state.steps.get(node.key);
  if (item !== null) {
    const chosen = state.steps.get(`${item}.${node.key}`);
    if (chosen) return chosen;
  }
  return mostUrgent(bodySteps(state).get(node.id) ?? []);
}

const bodies = new WeakMap<RunState['steps'], Map<string, LiveStep[]>>();

function bodySteps({ steps }: RunState): Map<string, LiveStep[]> {
  let found = bodies.get(steps);
  if (found) return found;
  found = new Map();
  for (const step of steps.values()) {
    if (step.index === null) continue;
    const list = found.get(step.node);
    if (list) list.push(step);
    else found.set(step.node, [step]);
  }
  bodies.set(steps, found);
  return found;
}

function mostUrgent(steps: readonly LiveStep[]): LiveStep | undefined {
  let best: LiveStep | undefined;
  let rank = URGENCY.length;
  for (const step of steps) {
    const at = URGENCY.indexOf(shownStatus(step));
    if (at < rank) {
      best = step;
      rank = at;
    }
  }
  return best;
}
