import type { ProblemLevel } from '../../diagram';
import type { Problem } from './api';

const cache = new WeakMap<readonly Problem[], ReadonlyMap<string, Problem[]>>();
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
  return found.some((problem) => problem.severity === 'error') ? 'error' : 'warning';
}

/** Errors block publishing, warnings do not; errors come first. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const rank = (problem: Problem) => (problem.severity === 'error' ? 0 : 1);
  return [...problems].sort((a, b) => rank(a) - rank(b));
}

export const errorsOf = (problems: readonly Problem[]): Problem[] =>
  problems.filter((problem) => problem.severity === 'error');
