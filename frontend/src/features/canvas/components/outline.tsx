import { IconAlertCircle } from '@tabler/icons-react';
import { useMemo } from 'react';

import { type GraphNode, KindIcon } from '../../../diagram';
import { showStep } from '../actions';
import { useCanvas, useHands } from '../hands';
import { outlineOf } from '../model/outline';
import { levelOfNode } from '../problems';
import classes from './side-panel.module.css';

/** The graph as a list, in the order in which it runs: for eyes that want a list, and for screen readers. */
export function Outline({ selected }: { selected: number }) {
  const graph = useCanvas((state) => state.document);
  const rows = useMemo(() => outlineOf(graph), [graph]);
  const steps = graph.nodes.length;
  return (
    <>
      <div className={classes.head}>
        <h2 className={classes.title}>Steps</h2>
        <span className={classes.sub}>
          {selected > 1 ? `${selected} selected` : steps === 1 ? '1 step' : `${steps} steps`}
        </span>
      </div>
      {steps === 0 ? (
        <p className={classes.note}>The list of steps, in the order in which they run, appears here.</p>
      ) : (
        <ol className={classes.outline}>
          {rows.map(({ node, depth, next }) => (
            <Row key={node.id} node={node} depth={depth} next={next} />
          ))}
        </ol>
      )}
    </>
  );
}

function Row({ node, depth, next }: { node: GraphNode; depth: number; next: string }) {
  const hands = useHands();
  const level = useCanvas((state) => levelOfNode(state.problems, node.id));
  const isSelected = useCanvas((state) => state.selection.has(node.id));
  const kind = hands.kinds.get(node.kind);
  return (
    <li style={{ paddingLeft: depth * 18 }}>
      <button
        type="button"
        className={classes.outlineRow}
        data-selected={isSelected}
        onClick={() => showStep(hands, node.id, { focus: false })}
      >
        <KindIcon name={kind?.icon} size={16} />
        <span className={classes.outlineName}>{node.name || node.key}</span>
        {level ? <IconAlertCircle size={14} aria-label="has a problem" color="var(--status-failed)" /> : null}
        <span className={classes.outlineKey}>{node.key}</span>
        <span className="visually-hidden">
          {kind?.title}. {next}
        </span>
      </button>
    </li>
  );
}
