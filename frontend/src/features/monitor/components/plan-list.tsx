import { useMemo } from 'react';

import type { ResumePreview } from '../../../api/types';
import { formatCount } from '../../../lib/format';
import { useRunState } from '../store';
import { nameOf } from '../summary';
import classes from './plan-list.module.css';

type Fate = ResumePreview['nodes'][number];

const WORDS: Readonly<Record<Fate['action'], string>> = {
  again: '↻ runs again',
  new: '+ new',
  removed: '– removed',
  kept: '⤼ kept',
};
const ORDER: readonly Fate['action'][] = ['again', 'new', 'removed', 'kept'];

/** What a fork does with each step of the graph, and why: what is not kept first. */
export function PlanList({ nodes }: { nodes: readonly Fate[] }) {
  const graph = useRunState((state) => state.graph);
  const rows = useMemo(() => ORDER.flatMap((action) => nodes.filter((node) => node.action === action)), [nodes]);
  const kept = nodes.filter((node) => node.action === 'kept').length;
  return (
    <section
      className={classes.list}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={`What becomes of ${formatCount(nodes.length, 'step')}: ${kept} kept`}
    >
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">In the new run</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((node) => (
            <tr key={node.key} data-action={node.action}>
              <th scope="row">{nameOf(graph, node.key)}</th>
              <td className={classes.action}>{WORDS[node.action]}</td>
              <td>{node.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
