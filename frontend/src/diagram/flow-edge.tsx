import { BaseEdge, type EdgeProps, getSmoothStepPath, Position } from '@xyflow/react';
import { memo } from 'react';

import { useDiagram } from './context';
import { useIsFar } from './far';
import classes from './flow-edge.module.css';
import { PORT_REACH } from './measure';
import type { StepFlowEdge } from './to-flow';
import type { Mark } from './types';

/** Edges end where a port can be hit; they should be seen to end where it can be seen. */
const INWARDS = (PORT_REACH - 10) / 2;

function endsAtPorts(given: Omit<EdgeProps<StepFlowEdge>, 'id' | 'target' | 'selected' | 'data'>) {
  const { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition } = given;
  const isBelow = sourcePosition === Position.Bottom;
  return {
    sourceX: isBelow ? sourceX : sourceX - INWARDS,
    sourceY: isBelow ? sourceY - INWARDS : sourceY,
    targetX: targetX + INWARDS - 1,
    targetY,
    sourcePosition,
    targetPosition,
  };
}

/** On an edge that differs between two versions, beside its colour and dashes. */
const SIGNS: Partial<Record<Mark, string>> = { added: '+', removed: '−' };

const ABOVE = 28;

/** An edge that goes back to a row below runs close above its target: halfway it might run through other steps. */
function detourOf(
  { sourceX, sourceY, targetX, targetY }: ReturnType<typeof endsAtPorts>,
  reach: number,
): { centerY?: number } {
  const above = targetY - reach - ABOVE;
  return targetX < sourceX + 36 && above > sourceY + 20 ? { centerY: above } : {};
}

/** A smooth step; the branch's word stands beside the port that it leaves by. All of it is SVG: 500 edges must pan. */
export const FlowEdge = memo(function FlowEdge({ id, target, selected, data, ...given }: EdgeProps<StepFlowEdge>) {
  const { useStatus, useMark, useIsTarget, onInsert } = useDiagram();
  const isRunning = useStatus(target)?.status === 'running';
  const isTarget = useIsTarget(id);
  const mark = useMark(id);
  const isFar = useIsFar();
  const ends = endsAtPorts(given);
  const [path, middleX, middleY] = getSmoothStepPath({
    ...ends,
    ...detourOf(ends, data?.reach ?? 0),
    borderRadius: 10,
    offset: 18,
  });
  const isError = data?.error ?? false;
  return (
    <g
      className={classes.edge}
      data-selected={selected}
      data-running={isRunning}
      data-error={isError}
      data-target={isTarget}
      data-mark={mark}
    >
      <BaseEdge id={id} path={path} interactionWidth={isFar ? 0 : 20} className={classes.line} />
      {isFar ? null : (
        <path className={classes.arrow} d={`M${ends.targetX - 9} ${ends.targetY - 4.5} l6 4.5 l-6 4.5`} />
      )}
      {mark && !isFar ? (
        <text className={classes.sign} x={middleX} y={middleY + 5}>
          {SIGNS[mark]}
        </text>
      ) : null}
      {data?.label ? (
        <text
          className={classes.label}
          x={isError ? ends.sourceX + 8 : ends.sourceX + 12}
          y={isError ? ends.sourceY + 18 : ends.sourceY - 6}
        >
          {data.label}
        </text>
      ) : null}
      {isTarget ? (
        <g className={classes.hint} transform={`translate(${middleX} ${middleY})`}>
          <rect x="-40" y="-12" width="80" height="24" rx="12" />
          <text>Insert here</text>
        </g>
      ) : null}
      {onInsert && !isFar && !isTarget ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard's way is the command 'Insert a step' on the selected edge
        <g
          className={classes.plus}
          transform={`translate(${middleX} ${middleY})`}
          onClick={(event) => {
            event.stopPropagation();
            onInsert({ edge: id, at: { x: event.clientX, y: event.clientY } });
          }}
        >
          <title>Insert a step here</title>
          <circle r="16" className={classes.reach} />
          <circle r="9" className={classes.disc} />
          <path d="M-4 0h8M0 -4v8" />
        </g>
      ) : null}
    </g>
  );
});
