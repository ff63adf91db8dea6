import { type NodeProps, useStore } from '@xyflow/react';
import { memo } from 'react';

import { useDiagram } from './context';
import { KindIcon } from './kind-icon';
import classes from './node-card.module.css';
import { STATUS_LOOKS } from './status';
import { StatusBadge, StatusShape } from './status-badge';
import { StepPorts } from './step-ports';
import type { StepFlowNode } from './to-flow';

/** Below this zoom words cannot be read, so a node is its icon and its status. */
const READABLE = 0.4;

export const useIsFar = (): boolean => useStore((state) => state.transform[2] < READABLE);

export const NodeCard = memo(function NodeCard({ id, data, selected, dragging }: NodeProps<StepFlowNode>) {
  const { useStatus, useMark, useProblem, useIsTarget } = useDiagram();
  const status = useStatus(id);
  const mark = useMark(id);
  const problem = useProblem(id);
  const isTarget = useIsTarget(id);
  const isFar = useIsFar();
  const shown = status?.status;
  return (
    <div
      className={classes.card}
      data-status={shown}
      data-mark={mark}
      data-problem={problem}
      data-selected={selected}
      data-dragging={dragging}
      data-target={isTarget}
      data-far={isFar}
      style={
        shown ? ({ '--node-status': `var(--status-${STATUS_LOOKS[shown].token})` } as React.CSSProperties) : undefined
      }
    >
      {isFar ? (
        <div className={classes.far}>
          <KindIcon name={data.kind?.icon} size={36} />
          {shown ? <StatusShape status={shown} size={40} /> : null}
        </div>
      ) : (
        <Words data={data} problem={problem} />
      )}
      {shown && !isFar ? (
        <div className={classes.status}>
          <StatusBadge status={shown} detail={status.detail} sentence={status.sentence} />
        </div>
      ) : null}
      {mark && !isFar ? <div className={classes.mark}>{MARK_WORDS[mark]}</div> : null}
      {isFar ? null : <StepPorts id={id} data={data} />}
    </div>
  );
});

const MARK_WORDS = { kept: '⤼ kept', again: '↻ runs again', effect: '! may happen twice' } as const;

interface WordsProps {
  data: StepFlowNode['data'];
  problem: 'error' | 'warning' | undefined;
}

const Words = memo(function Words({ data, problem }: WordsProps) {
  const { node, kind, description } = data;
  return (
    <>
      <span className={classes.icon} title={kind?.title ?? node.kind}>
        <KindIcon name={kind?.icon} />
      </span>
      <span className={classes.words}>
        <span className={classes.name}>{node.name || kind?.title || node.key}</span>
        <span className={classes.key}>{node.key}</span>
        <span className={classes.what} title={description}>
          {description}
        </span>
      </span>
      {problem ? (
        <span className={classes.problem} title={problem === 'error' ? 'Has a problem' : 'Has a warning'}>
          !
        </span>
      ) : null}
    </>
  );
});
