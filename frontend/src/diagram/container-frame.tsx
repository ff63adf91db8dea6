import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';

import { BreakpointMark } from './breakpoint-mark';
import classes from './container-frame.module.css';
import { useDiagram } from './context';
import { useIsFar } from './far';
import { KindIcon } from './kind-icon';
import { MARK_WORDS } from './mark-words';
import { ProblemMark } from './problem-mark';
import { STATUS_LOOKS } from './status';
import { StatusBadge } from './status-badge';
import { StepPorts } from './step-ports';
import type { StepFlowNode } from './to-flow';
import type { NodeStatus } from './types';

/** A plan's marks are said on the steps inside; that a container differs between two versions is said on itself. */
const CHANGES = { added: true, removed: true, changed: true };

/** The frame around a body: its header says for what, and how many at once. */
export const ContainerFrame = memo(function ContainerFrame({ id, data, selected }: NodeProps<StepFlowNode>) {
  const { useStatus, useMark, useProblem, useBreakpoint, useIsTarget, onInsert } = useDiagram();
  const status = useStatus(id);
  const isTarget = useIsTarget(id);
  const isFar = useIsFar();
  const problem = useProblem(id);
  const mark = useMark(id);
  const { node, kind, description, bodySize } = data;
  const shown = status?.status;
  return (
    <div
      className={classes.frame}
      data-status={shown}
      data-mark={mark}
      data-problem={problem}
      data-selected={selected}
      data-disabled={node.disabled}
      data-target={isTarget}
      style={
        shown ? ({ '--node-status': `var(--status-${STATUS_LOOKS[shown].token})` } as React.CSSProperties) : undefined
      }
    >
      {useBreakpoint(id) ? <BreakpointMark /> : null}
      {problem && !isFar ? <ProblemMark level={problem} /> : null}
      <div className={classes.header}>
        <KindIcon name={kind?.icon} size={isFar ? 30 : 17} />
        {isFar ? null : (
          <>
            <span className={classes.name}>{node.name || kind?.title || node.key}</span>
            <span className={classes.key}>{node.key}</span>
            <span className={classes.what} title={description}>
              {description}
            </span>
          </>
        )}
        {node.disabled ? (
          <span className={classes.off} title="Disabled: a run passes through it, and leaves its steps out">
            off
          </span>
        ) : null}
        {shown ? <StatusBadge status={shown} detail={status.detail} sentence={status.sentence} /> : null}
      </div>
      {status?.progress ? <Progress {...status.progress} /> : null}
      {bodySize === 0 && onInsert ? (
        <button
          type="button"
          className={`${classes.empty} nodrag`}
          onClick={(event) => onInsert({ into: id, at: { x: event.clientX, y: event.clientY } })}
        >
          Add the step that runs for each item
        </button>
      ) : null}
      {mark && mark in CHANGES && !isFar ? <div className={classes.mark}>{MARK_WORDS[mark]}</div> : null}
      <StepPorts id={id} data={data} />
    </div>
  );
});

function Progress({ settled, total, failed }: NonNullable<NodeStatus['progress']>) {
  const share = (count: number) => `${total === 0 ? 0 : (count / total) * 100}%`;
  return (
    <div className={classes.progress} role="img" aria-label={`${settled} of ${total} items settled, ${failed} failed`}>
      <span className={classes.done} style={{ width: share(settled - failed) }} />
      <span className={classes.failed} style={{ width: share(failed) }} />
    </div>
  );
}
