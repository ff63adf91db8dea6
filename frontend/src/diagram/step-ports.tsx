import { Handle, Position } from '@xyflow/react';

import { useDiagram } from './context';
import classes from './step-ports.module.css';
import type { StepData } from './to-flow';
import { ERROR_PORT } from './types';

interface Props {
  id: string;
  data: StepData;
}

/** Where edges enter and leave. A click on a port asks for the next step; a drag connects. */
export function StepPorts({ id, data }: Props) {
  const { onInsert } = useDiagram();
  const { kind, ports, errorPort, usedPorts } = data;
  const used = usedPorts.split('\n');
  const ask = (port: string) => (event: React.MouseEvent) => {
    if (!onInsert) return;
    event.stopPropagation();
    onInsert({ from: { node: id, port }, at: { x: event.clientX, y: event.clientY } });
  };
  return (
    <>
      {kind?.has_input === false ? null : <Handle type="target" position={Position.Left} className={classes.port} />}
      {ports.map((port, at) => (
        <Handle
          key={port.name}
          id={port.name}
          type="source"
          position={Position.Right}
          className={classes.port}
          style={{ top: `${((at + 1) / (ports.length + 1)) * 100}%` }}
          onClick={ask(port.name)}
          title={port.title || port.name}
        >
          {ports.length > 1 && !used.includes(port.name) ? (
            <span className={classes.label}>{port.title || port.name}</span>
          ) : null}
        </Handle>
      ))}
      {errorPort || onInsert ? (
        <Handle
          id={ERROR_PORT}
          type="source"
          position={Position.Bottom}
          className={`${classes.port} ${classes.error}`}
          data-used={errorPort}
          onClick={ask(ERROR_PORT)}
          title="What happens when it fails"
        />
      ) : null}
    </>
  );
}
