import type { ResumePreview } from '../../api/types';
import type { NodeMark } from '../../diagram';
import { readPath } from './paths';
import type { RunState } from './reducer';

const RANK: Readonly<Record<NodeMark, number>> = { kept: 0, again: 1, effect: 2 };

/** What the plan draws on each node: the riskiest of what holds for any of its step runs. */
export function marksOf(preview: ResumePreview, { graph }: Pick<RunState, 'graph'>): ReadonlyMap<string, NodeMark> {
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const marks = new Map<string, NodeMark>();
  const mark = (path: string, as: NodeMark) => {
    let node = byKey.get(readPath(path).key);
    while (node) {
      const before = marks.get(node.id);
      if (before === undefined || RANK[as] > RANK[before]) marks.set(node.id, as);
      const { parent } = node;
      // A container runs again where one of its items does; that its items are kept says nothing of itself.
      node = as === 'again' && parent !== null ? graph.nodes.find((one) => one.id === parent) : undefined;
    }
  };
  for (const path of preview.kept) mark(path, 'kept');
  for (const path of preview.again) mark(path, 'again');
  for (const { path, may_happen_twice } of preview.effects) if (may_happen_twice) mark(path, 'effect');
  for (const node of graph.nodes) {
    // What the plan says of a container holds for its body, where it says nothing of the items.
    const outer = node.parent === null ? undefined : marks.get(node.parent);
    if (outer !== undefined && !marks.has(node.id)) marks.set(node.id, outer === 'effect' ? 'again' : outer);
  }
  return marks;
}
