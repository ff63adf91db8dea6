import type { GraphDocument } from '../../../diagram';
import { type Json, sameJson } from '../../../lib/json';

export { sameJson };

const byId = <T extends { id: string }>(list: readonly T[]): Map<string, T> =>
  new Map(list.map((one) => [one.id, one]));

function compare<T extends { id: string }>(mine: readonly T[], theirs: readonly T[]) {
  const ours = byId(mine);
  const others = byId(theirs);
  return {
    added: theirs.filter((one) => !ours.has(one.id)).length,
    missing: mine.filter((one) => !others.has(one.id)).length,
    changed: theirs.filter(
      (one) => ours.has(one.id) && !sameJson(one as unknown as Json, ours.get(one.id) as unknown as Json),
    ).length,
  };
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** Does the same: the order of nodes and edges, and where the nodes stand, do not matter. */
export function sameGraph(a: GraphDocument, b: GraphDocument): boolean {
  const unplaced = ({ nodes }: GraphDocument) => nodes.map(({ position: _, ...node }) => node);
  const nodes = compare(unplaced(a), unplaced(b));
  const edges = compare(a.edges, b.edges);
  return [nodes, edges].every(({ added, missing, changed }) => added + missing + changed === 0);
}

/** '2 steps added, 1 step changed, 1 edge missing'. */
export function differenceOf(mine: GraphDocument, theirs: GraphDocument): string {
  const parts = (['step', 'edge'] as const).flatMap((what) => {
    const found = what === 'step' ? compare(mine.nodes, theirs.nodes) : compare(mine.edges, theirs.edges);
    return (['added', 'missing', 'changed'] as const)
      .filter((how) => found[how] > 0)
      .map((how) => `${count(found[how], what)} ${how}`);
  });
  return parts.length === 0 ? 'the same steps and edges' : parts.join(', ');
}
