import { IconChevronDown, IconChevronRight, IconStack2 } from '@tabler/icons-react';
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';

import { useDiagram } from './context';
import classes from './group-frame.module.css';
import type { GroupFlowNode } from './margin';

/** Steps that are shown as one thing: a frame around them, or, folded, one card in their place. */
export const GroupFrame = memo(function GroupFrame({ id, data, selected }: NodeProps<GroupFlowNode>) {
  const { margin, useIsTarget } = useDiagram();
  const { group, steps } = data;
  const count = steps.length === 1 ? '1 step' : `${steps.length} steps`;
  const Chevron = group.collapsed ? IconChevronRight : IconChevronDown;
  return (
    <div
      className={group.collapsed ? classes.card : classes.frame}
      data-selected={selected}
      data-target={useIsTarget(id)}
      data-group={group.name}
    >
      <div className={classes.header}>
        {margin ? (
          <button
            type="button"
            className={`${classes.fold} nodrag`}
            aria-expanded={!group.collapsed}
            aria-label={`${group.collapsed ? 'Show' : 'Fold'} the steps of ${group.name}`}
            onClick={(event) => {
              event.stopPropagation();
              margin.onFold(id, !group.collapsed);
            }}
          >
            <Chevron size={15} />
          </button>
        ) : null}
        {group.collapsed ? <IconStack2 size={17} className={classes.icon} /> : null}
        <span className={classes.words}>
          <span className={classes.name}>{group.name}</span>
          <span className={classes.count}>{count}</span>
        </span>
        {group.collapsed ? steps.map((step) => <ProblemWithin key={step} id={step} />) : null}
      </div>
      {group.collapsed ? (
        <>
          <Handle type="target" position={Position.Left} isConnectable={false} className={classes.port} />
          <Handle id="out" type="source" position={Position.Right} isConnectable={false} className={classes.port} />
        </>
      ) : null}
    </div>
  );
});

/** Each member that has a problem draws a sign; the look shows only the first. */
function ProblemWithin({ id }: { id: string }) {
  const problem = useDiagram().useProblem(id);
  if (!problem) return null;
  return (
    <span className={classes.problem} data-level={problem} title="A step in it has a problem">
      !
    </span>
  );
}
