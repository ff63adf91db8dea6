import type { ProblemLevel } from '../../diagram';
import type { Problem } from './api';

const cache = new WeakMap<readonly Problem[], ReadonlyMap<string, Problem[]>>();
const LEVELS: readonly ProblemLevel[] = ['error', 'warning', 'hint'];
const NONE: readonly Problem[] = [];

function byNode(problems: readonly Problem[]): ReadonlyMap<string, Problem[]> {
  const known = cache.get(problems);
  if (known) return known;
  const made = new Map<string, Problem[]>();
  for (const problem of problems) {
    if (!problem.node) continue;
    const list = made.get(problem.node);
    if (list) list.push(problem);
    else made.set(problem.node, [problem]);
  }
  cache.set(problems, made);
  return made;
}

export const problemsOfNode = (problems: readonly Problem[], id: string): readonly Problem[] =>
  byNode(problems).get(id) ?? NONE;

export function levelOfNode(problems: readonly Problem[], id: string): ProblemLevel | undefined {
  const found = problemsOfNode(problems, id);
  if (found.length === 0) return undefined;
  return LEVELS.find((level) => found.some((problem) => problem.severity === level));
}

/** Errors block publishing, warnings and hints do not; errors come first, hints last. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const rank = (problem: Problem) => LEVELS.indexOf(problem.severity);
  return [...problems].sort((a, b) => rank(a) - rank(b));
}

export const errorsOf = (problems: readonly Problem[]): Problem[] =>
  problems.filter((problem) => problem.severity === 'error');

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** What the header says: problems where there are any, else hints. */
export function inWords(problems: readonly Problem[]): string {
  const hints = problems.filter((problem) => problem.severity === 'hint').length;
  if (problems.length > hints) return `Problems ${problems.length - hints}`;
  return hints > 0 ? counted(hints, 'hint') : 'No problems';
}

/** '2 errors, 1 warning, 3 hints'. */
export const inAll = (problems: readonly Problem[]): string =>
  LEVELS.map((level) => [problems.filter((problem) => problem.severity === level).length, level] as const)
    .filter(([count]) => count > 0)
    .map(([count, level]) => counted(count, level))
    .join(', ');
