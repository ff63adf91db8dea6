import type { StepKind } from '../../diagram';

/** The palette's order; what a plug-in brings comes behind. */
const ORDER = ['Flow', 'Data', 'Code', 'Outside', 'People', 'Files'];

/** How well a kind answers to what was typed: 0 is not at all. */
function score(kind: StepKind, words: readonly string[]): number {
  const title = kind.title.toLowerCase();
  const all = `${title} ${kind.kind} ${kind.group} ${kind.summary}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return 0;
  const first = words[0] ?? '';
  return title.startsWith(first) ? 3 : title.includes(first) ? 2 : 1;
}

export function findKinds(kinds: readonly StepKind[], query: string): StepKind[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...kinds];
  return kinds
    .map((kind) => ({ kind, points: score(kind, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .map(({ kind }) => kind);
}

export function groupKinds(kinds: readonly StepKind[]): [string, StepKind[]][] {
  const groups = new Map<string, StepKind[]>();
  for (const kind of kinds) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  const rank = (group: string) => (ORDER.includes(group) ? ORDER.indexOf(group) : ORDER.length);
  return [...groups].sort(([a], [b]) => rank(a) - rank(b));
}
