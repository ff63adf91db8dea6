import classes from './far-ports.module.css';
import { handlesOf } from './measure';
import type { Size } from './sizes';
import type { StepData } from './to-flow';

interface Props {
  size: Size;
  data: StepData;
}

/**
 * What stands for a step's ports while it is far away. React Flow measures them in the page (by class and data attributes,
 * as its own Handle has them), and an edge whose ends it finds nowhere is not drawn. Plain boxes in the flow of the page,
 * without a layer of their own: there may be a thousand.
 */
export function FarPorts({ size, data: { ports, kind } }: Props) {
  return (
    <div className={classes.ports}>
      {handlesOf({ size, ports, hasInput: kind?.has_input !== false }).map(({ id, type, position, x, y }) => (
        <i
          key={`${type} ${id}`}
          className={type}
          data-handleid={id ?? undefined}
          data-handlepos={position}
          style={{ margin: `${y}px 0 0 ${x}px` }}
        />
      ))}
    </div>
  );
}
