import type { Run } from '../../api/types';
import type { GraphDocument, GraphNode } from '../../diagram';
import { formatCount, formatDuration, formatNames } from '../../lib/format';
import { wordOf } from './items';
import { readPath } from './paths';
import type { LiveStep, RunState } from './reducer';

export interface Progress {
  done: number;
  total: number;
}

/** Finished top-level steps of all; what was left out counts as done. */
export function progressOf({ steps }: RunState): Progress {
  let done = 0;
  let total = 0;
  for (const step of steps.values()) {
    if (step.index !== null) continue;
    total += 1;
    const leftOut = step.status === 'skipped' && step.reason !== 'upstream_failed';
    if (step.status === 'succeeded' || leftOut || step.handled) done += 1;
  }
  return { done, total };
}

/** The node of the step at a path. */
export function nodeAt(graph: GraphDocument, path: string | null): GraphNode | undefined {
  const key = path === null ? null : readPath(path).key;
  return graph.nodes.find((one) => one.key === key);
}

/** What a person calls the step at a path: the node's name, with the item's number where it is in a container. */
export function nameOf(graph: GraphDocument, path: string): string {
  const { key, index } = readPath(path);
  const node = graph.nodes.find((one) => one.key === key);
  const name = node?.name || key;
  const container = graph.nodes.find((one) => one.id === node?.parent);
  if (index === null || container?.kind === 'try_block') return name;
  return `${name} (${wordOf(container?.kind ?? '').one} ${index})`;
}

const ACTIVE: ReadonlySet<string> = new Set(['ready', 'running', 'retry_wait']);

/** Whether a step of the run is under way, or about to be. Else the run waits for a person or a time. */
export function isActive({ steps }: RunState): boolean {
  return [...steps.values()].some(
    (step) => ACTIVE.has(step.status) || (step.status === 'waiting' && step.map !== null),
  );
}

const topSteps = (state: RunState): LiveStep[] => [...state.steps.values()].filter((step) => step.index === null);

/** The step that a person should look at first: what failed, then what needs them, then what runs. */
export function focusOf(state: RunState): LiveStep | undefined {
  const top = topSteps(state);
  const first = (test: (step: LiveStep) => boolean) => top.find(test);
  return (
    first((step) => step.status === 'failed' && !step.handled) ??
    first((step) => step.status === 'needs_decision') ??
    first((step) => step.status === 'waiting' && step.map === null) ??
    first((step) => step.status === 'retry_wait') ??
    first((step) => step.status === 'running') ??
    first((step) => step.status === 'waiting') ??
    first((step) => step.status === 'ready')
  );
}

/** What happened, in one sentence. */
export function headSentence(state: RunState): string {
  const { run, graph } = state;
  const focus = focusOf(state);
  const name = focus ? `'${nameOf(graph, focus.path)}'` : '';
  const { done, total } = progressOf(state);
  switch (run.status) {
    case 'failed':
      if (run.error?.code === 'run_deadline') return `${run.error.message} What was finished is kept.`;
      return focus?.error ? `Failed at ${name}: ${focus.error.message}` : `Failed${name ? ` at ${name}` : ''}.`;
    case 'succeeded':
      return succeededSentence(state);
    case 'cancelled':
      return `Cancelled after ${done} of ${formatCount(total, 'step')}. What was finished is kept.`;
    case 'cancelling':
      return 'Is being cancelled: running steps are told to stop.';
    case 'paused':
      return pausedSentence(state);
    case 'running':
      if (focus?.status === 'failed' && !isActive(state)) {
        return `${name} failed, and nothing else can go on until it is resumed. ${done} of ${formatCount(total, 'step')} done.`;
      }
      return focus ? runningSentence(focus, name, { done, total }) : `${done} of ${formatCount(total, 'step')} done.`;
  }
}

/** Whose doing the pause is, and what still goes on: bodies that run are not disturbed. */
function pausedSentence({ run: { paused_at: held, paused_by: holder, pause }, graph, steps }: RunState): string {
  if (holder === 'parent') return 'Paused with the run that waits for it: it goes on when that one continues.';
  const where = formatNames(held.map((path) => `'${nameOf(graph, path)}'`));
  const byPerson = pause && pause.at === null ? `Paused by ${pause.by}` : 'Paused';
  const begin = held.length === 0 ? byPerson : pause?.at === null ? `${byPerson}, held` : 'Paused by a breakpoint';
  const running = [...steps.values()].filter((step) => step.status === 'running');
  const [only] = running;
  const going =
    running.length > 1
      ? ` ${formatCount(running.length, 'step')} that run go on to their end.`
      : only
        ? ` '${nameOf(graph, only.path)}' runs on to its end.`
        : '';
  const also = holder === 'both' ? ' The run that waits for it is paused as well.' : '';
  return `${begin}${where ? ` before ${where}` : ''}: nothing new starts until you continue.${going}${also}`;
}

function succeededSentence({ run, steps }: RunState): string {
  const skipped = [...steps.values()].filter((step) => step.index === null && step.status === 'skipped').length;
  const took = run.finished_at ? Date.parse(run.finished_at) - Date.parse(run.started_at) : null;
  return `Finished in ${formatDuration(took)}${skipped > 0 ? `; ${formatCount(skipped, 'step')} left out` : ''}.`;
}

function runningSentence(step: LiveStep, name: string, { done, total }: Progress): string {
  const tail = `${done} of ${formatCount(total, 'step')} done.`;
  if (step.status === 'failed') return `${name} failed; other branches go on. ${tail}`;
  if (step.status === 'needs_decision') return `Nobody knows whether ${name} took effect. Decide, then it goes on.`;
  if (step.status === 'retry_wait') return `${name} failed and is tried again by itself. ${tail}`;
  if (step.map)
    return `${name}: ${step.map.settled} of ${formatCount(step.map.total, wordOf(step.kind).one)} done. ${tail}`;
  if (step.wait === 'callback') return `${name} waits for another program to call back. ${tail}`;
  if (step.wait === 'child') return `${name} waits for the run that it has started. ${tail}`;
  if (step.status === 'waiting') {
    return step.wait === 'timer' || step.kind === 'delay'
      ? `${name} waits for its time; no worker is held. ${tail}`
      : `${name} waits for a person; no worker is held. ${tail}`;
  }
  return step.status === 'ready' ? `${name} waits for a free worker. ${tail}` : `${name} is running. ${tail}`;
}

export function isResumable(run: Run): boolean {
  return run.status === 'failed' || run.status === 'cancelled';
}

/** A running or paused run whose one branch failed may be resumed as well; a paused one stays paused. */
export function hasFailedBranch(state: RunState): boolean {
  return isCancellable(state.run) && topSteps(state).some((step) => step.status === 'failed' && !step.handled);
}

export function isCancellable(run: Run): boolean {
  return run.status === 'running' || run.status === 'paused';
}

/** The failed steps as one text: it changes when a plan that was made of them is out of date. */
export function failedPaths({ run, steps }: RunState): string {
  const failed = [...steps.values()].filter((step) => step.status === 'failed').map((step) => step.path);
  return `${run.status}:${failed.join(',')}`;
}
