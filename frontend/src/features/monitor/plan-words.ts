/** What an operation would do, in the words of its plan. */
import type { Operation, OperationKind } from '../../api/recovery';
import type { Decision, ResumePreview } from '../../api/types';
import type { GraphDocument } from '../../diagram';
import { formatCount, formatDuration, formatNames } from '../../lib/format';
import { readPath } from './paths';
import { nameOf } from './summary';

/**
 * Where a plan begins: of the steps that run the first that follows none of the others. The order of the nodes in the
 * document says nothing: it is the one in which they were drawn.
 */
export function firstAgain({ again }: Pick<ResumePreview, 'again'>, graph: GraphDocument): string | undefined {
  const ids = new Map(graph.nodes.map((node) => [node.key, node.id]));
  const idOf = (path: string) => ids.get(readPath(path).key);
  const open = new Set(again.map(idOf));
  const following = new Set(graph.edges.filter((edge) => open.has(edge.source)).map((edge) => edge.target));
  return again.find((path) => !following.has(idOf(path) ?? '')) ?? again[0];
}

const quoted = (graph: GraphDocument, path: string): string => `'${nameOf(graph, path)}'`;

const DECIDES: Readonly<Record<Decision, string>> = {
  happened: 'counts as finished, with the output that you give',
  not_happened: 'runs again, with the same key',
  run_again: 'runs again, with a new key',
  skip: 'is left out',
};

/** What happens to the step itself; nothing of a resume, whose steps are all alike. */
function toTheStep(operation: Operation, graph: GraphDocument): string {
  switch (operation.kind) {
    case 'resume':
      return '';
    case 'retry_now':
      return `The next attempt of ${quoted(graph, operation.path)} starts at once. `;
    case 'skip':
      return `${quoted(graph, operation.path)} is left out, and the flow goes on as if it were not there. `;
    case 'supply_output':
      return `${quoted(graph, operation.path)} succeeds with your output, marked manual. `;
    case 'edit_input':
      return `${quoted(graph, operation.path)} runs again on your input, under a new key. `;
    case 'decide':
      return `${quoted(graph, operation.path)} ${DECIDES[operation.decision]}. `;
    case 'fork':
      return `A new run${operation.version === null ? '' : ` on version ${operation.version}`} goes on from ${quoted(graph, operation.path)}. `;
  }
}

/** What the plan does, in a sentence or two. */
export function planSentence(preview: ResumePreview, graph: GraphDocument, operation?: Operation): string {
  const keeps = `Keeps ${formatCount(preview.kept.length, 'finished step')} and runs ${preview.again.length}`;
  const first = firstAgain(preview, graph);
  const from = first ? `, from ${quoted(graph, first)} on` : '';
  const saved = preview.saved_s >= 1 ? ` Saves ${formatDuration(preview.saved_s * 1000)}.` : '';
  return `${operation ? toTheStep(operation, graph) : ''}${keeps}${from}.${saved}`;
}

export interface Effects {
  isRisky: boolean;
  sentence: string;
}

/** What the plan does outside: whether that is risky, in one sentence. */
export function effectsOf(preview: ResumePreview, graph: GraphDocument): Effects {
  const names = (effects: ResumePreview['effects']) => formatNames(effects.map((one) => quoted(graph, one.path)));
  const twice = preview.effects.filter((one) => one.may_happen_twice);
  if (twice.length > 0) return { isRisky: true, sentence: `May take effect twice: ${names(twice)}.` };
  if (preview.effects.length === 0) return { isRisky: false, sentence: 'Nothing of it acts outside again.' };
  const verb = preview.effects.length === 1 ? 'acts' : 'act';
  return { isRisky: false, sentence: `${names(preview.effects)} ${verb} outside, with the same key as before.` };
}

/** What cannot be taken back, and what stays as it was. */
export function afterwards({ kind, ...operation }: Operation): string | null {
  switch (kind) {
    case 'skip':
    case 'supply_output':
      return 'There is no undo: to go another way later, run again from here.';
    case 'decide':
      return 'decision' in operation && ['happened', 'skip'].includes(operation.decision)
        ? 'There is no undo: to go another way later, run again from here.'
        : null;
    case 'edit_input':
      return 'The old input stays on its attempts.';
    case 'fork':
      return 'This run stays as it is.';
    default:
      return null;
  }
}

const NOUNS: Readonly<Record<OperationKind, string>> = {
  resume: 'resume',
  retry_now: 'retry',
  skip: 'skip',
  supply_output: 'supplied output',
  edit_input: 'edited input',
  decide: 'decision',
  fork: 'fork',
};

export const planTitle = ({ kind }: Operation): string => `Plan of the ${NOUNS[kind]}`;

/** What was tried, where it did not happen. */
const REFUSED: Readonly<Record<OperationKind, string>> = {
  resume: 'The run was not resumed',
  retry_now: 'The retry was not started',
  skip: 'The step was not skipped',
  supply_output: 'The output was not taken',
  edit_input: 'The step was not run on this input',
  decide: 'The decision was not taken',
  fork: 'No new run was started',
};

export const notDone = ({ kind }: Operation): string => REFUSED[kind];

/** What stands on the button: the outcome. */
export function confirmLabel(operation: Operation, preview: ResumePreview | null, graph: GraphDocument): string {
  if (operation.kind === 'resume') {
    const first = preview ? firstAgain(preview, graph) : undefined;
    return first ? `Resume from ${nameOf(graph, first)}` : 'Resume';
  }
  const name = nameOf(graph, operation.path);
  switch (operation.kind) {
    case 'retry_now':
      return `Retry ${name} now`;
    case 'skip':
      return `Skip ${name}`;
    case 'supply_output':
      return `Supply the output of ${name}`;
    case 'edit_input':
      return `Resume ${name} on this input`;
    case 'decide':
      return operation.decision === 'skip'
        ? `Skip ${name}`
        : operation.decision === 'happened'
          ? `Take ${name} as finished`
          : `Run ${name} again`;
    case 'fork':
      return `Start a new run from ${name}`;
  }
}

interface Told {
  graph: GraphDocument;
  /** Whether the act was tried, by the plan as it was before. */
  isRefused: boolean;
}

/** In what a plan differs from the one that was shown before, for whoever had decided by that one. */
export function changesBetween(before: ResumePreview, now: ResumePreview, { graph, isRefused }: Told): string {
  const said: string[] = [];
  const names = (paths: readonly string[]) => formatNames(paths.map((path) => quoted(graph, path)));
  const verb = (paths: readonly string[], one: string, many: string) => (paths.length === 1 ? one : many);
  if (now.generation !== before.generation) said.push('somebody resumed or mended the run');
  const more = now.again.filter((path) => !before.again.includes(path));
  const less = before.again.filter((path) => !now.again.includes(path));
  const finished = now.kept.filter((path) => !before.kept.includes(path));
  if (more.length > 0) said.push(`${names(more)} ${verb(more, 'runs', 'run')} too now`);
  if (less.length > 0) said.push(`${names(less)} ${verb(less, 'runs', 'run')} no longer`);
  if (finished.length > 0) said.push(`${names(finished)} ${verb(finished, 'has', 'have')} finished`);
  const what = said.length > 0 ? said.join('; ') : 'the run went on';
  return `${isRefused ? 'Nothing was done, since meanwhile' : 'Meanwhile'} ${what}. This is the plan now.`;
}
