import type { ResumePreview, Run } from '../../api/types';
import type { GraphDocument } from '../../diagram';
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
      return pausedSentence(run, graph);
    case 'running':
      if (focus?.status === 'failed' && !isActive(state)) {
        return `${name} failed, and nothing else can go on until it is resumed. ${done} of ${formatCount(total, 'step')} done.`;
      }
      return focus ? runningSentence(focus, name, { done, total }) : `${done} of ${formatCount(total, 'step')} done.`;
  }
}

function pausedSentence({ paused_at: held, paused_by: by }: Run, graph: GraphDocument): string {
  if (by === 'parent') return 'Paused with the run that waits for it: it goes on when that one is unpaused.';
  if (held.length === 0) return 'Paused: nothing new starts until it is set going again.';
  const where = formatNames(held.slice(0, 3).map((path) => `'${nameOf(graph, path)}'`));
  return `Paused by a breakpoint before ${where}: nothing new starts until it is set going again.`;
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

/**
 * Where a resume begins: of the steps that run again the first that follows none of the others. The order of the nodes in
 * the document says nothing: it is the one in which they were drawn.
 */
export function firstAgain({ again }: ResumePreview, graph: GraphDocument): string | undefined {
  const ids = new Map(graph.nodes.map((node) => [node.key, node.id]));
  const idOf = (path: string) => ids.get(readPath(path).key);
  const open = new Set(again.map(idOf));
  const following = new Set(graph.edges.filter((edge) => open.has(edge.source)).map((edge) => edge.target));
  return again.find((path) => !following.has(idOf(path) ?? '')) ?? again[0];
}

/** What a resume would do, in one sentence. */
export function planSentence(preview: ResumePreview, graph: GraphDocument): string {
  const keeps = `Keeps ${formatCount(preview.kept.length, 'finished step')} and runs ${preview.again.length}`;
  const first = firstAgain(preview, graph);
  const from = first ? `, from '${nameOf(graph, first)}' on` : '';
  const saved = preview.saved_s >= 1 ? ` Saves ${formatDuration(preview.saved_s * 1000)}.` : '';
  return `${keeps}${from}.${saved}`;
}

export interface Effects {
  isRisky: boolean;
  sentence: string;
}

/** What the plan does outside: whether that is risky, in one sentence. */
export function effectsOf(preview: ResumePreview, graph: GraphDocument): Effects {
  const names = (effects: ResumePreview['effects']) =>
    formatNames(effects.map((one) => `'${nameOf(graph, one.path)}'`));
  const twice = preview.effects.filter((one) => one.may_happen_twice);
  if (twice.length > 0) return { isRisky: true, sentence: `May take effect twice: ${names(twice)}.` };
  if (preview.effects.length === 0) return { isRisky: false, sentence: 'Nothing of it acts outside.' };
  const verb = preview.effects.length === 1 ? 'acts' : 'act';
  return { isRisky: false, sentence: `${names(preview.effects)} ${verb} outside, with the same key as before.` };
}

export function isResumable(run: Run): boolean {
  return run.status === 'failed' || run.status === 'cancelled';
}

/** A running run whose one branch failed may be resumed as well. */
export function hasFailedBranch(state: RunState): boolean {
  return state.run.status === 'running' && topSteps(state).some((step) => step.status === 'failed' && !step.handled);
}

export function isCancellable(run: Run): boolean {
  return run.status === 'running' || run.status === 'paused';
}

/** The failed steps as one text: it changes when a plan that was made of them is out of date. */
export function failedPaths({ run, steps }: RunState): string {
  const failed = [...steps.values()].filter((step) => step.status === 'failed').map((step) => step.path);
  return `${run.status}:${failed.join(',')}`;
}
