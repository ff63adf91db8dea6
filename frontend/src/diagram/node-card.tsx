import type { NodeProps } from '@xyflow/react';
import { memo } from 'react';

import { BreakpointMark } from './breakpoint-mark';
import { type ProblemLevel, useDiagram } from './context';
import { useIsFar, useIsSpeck } from './far';
import { FarPorts } from './far-ports';
import { KindIcon } from './kind-icon';
import { MARK_WORDS } from './mark-words';
import classes from './node-card.module.css';
import { ProblemMark } from './problem-mark';
import { NODE_HEIGHT, NODE_WIDTH } from './sizes';
import { STATUS_LOOKS } from './status';
import { StatusBadge, StatusShape } from './status-badge';
import { StepPorts } from './step-ports';
import type { StepFlowNode } from './to-flow';
import type { NodeStatus } from './types';

export const NodeCard = memo(function NodeCard(node: NodeProps<StepFlowNode>) {
  const isFar = useIsFar();
  return (
    <>
      {isFar ? (
        <FarPorts size={{ width: node.width ?? NODE_WIDTH, height: node.height ?? NODE_HEIGHT }} data={node.data} />
      ) : null}
      <Card {...node} isFar={isFar} />
    </>
  );
});

function Card({ id, data, selected, dragging, isFar }: NodeProps<StepFlowNode> & { isFar: boolean }) {
  const { useStatus, useMark, useProblem, useBreakpoint, useIsTarget } = useDiagram();
  const status = useStatus(id);
  const mark = useMark(id);
  const problem = useProblem(id);
  const hasBreakpoint = useBreakpoint(id);
  const isTarget = useIsTarget(id);
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
      data-disabled={data.node.disabled}
      style={
        shown ? ({ '--node-status': `var(--status-${STATUS_LOOKS[shown].token})` } as React.CSSProperties) : undefined
      }
    >
      {isFar ? <Far icon={data.kind?.icon} status={shown} /> : <Words data={data} problem={problem} />}
      {shown && !isFar ? (
        <div className={classes.status}>
          <StatusBadge status={shown} detail={status.detail} sentence={status.sentence} />
        </div>
      ) : null}
      {hasBreakpoint ? <BreakpointMark /> : null}
      {mark && !isFar ? <div className={classes.mark}>{MARK_WORDS[mark]}</div> : null}
      {isFar ? null : <StepPorts id={id} data={data} />}
    </div>
  );
}

function Far({ icon, status }: { icon: string | undefined; status: NodeStatus['status'] | undefined }) {
  const isSpeck = useIsSpeck();
  return (
    <div className={classes.far}>
      {isSpeck ? null : <KindIcon name={icon} size={36} />}
      {status ? <StatusShape status={status} size={40} /> : null}
    </div>
  );
}

interface WordsProps {
  data: StepFlowNode['data'];
  problem: ProblemLevel | undefined;
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
      {node.disabled ? (
        <span className={classes.off} title="Disabled: a run passes through it">
          off
        </span>
      ) : null}
      {problem ? <ProblemMark level={problem} /> : null}
    </>
  );
});
