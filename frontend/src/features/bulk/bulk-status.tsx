import type { Bulk, BulkResultStatus } from '../../api/bulk';
import { StatusShape } from '../../diagram/status-badge';
import type { StepStatus } from '../../diagram/types';
import classes from './bulk.module.css';

const OPERATION: Readonly<Record<Bulk['status'], [StepStatus, string, string]>> = {
  running: ['running', 'running', 'goes on'],
  waiting: ['waiting', 'waiting', 'waits for you'],
  stopped: ['cancelled', 'cancelled', 'stopped'],
  done: ['succeeded', 'succeeded', 'done'],
};

const RESULT: Readonly<Record<BulkResultStatus, [StepStatus, string, string]>> = {
  pending: ['pending', 'pending', 'to do'],
  done: ['succeeded', 'succeeded', 'done'],
  refused: ['failed', 'failed', 'refused'],
  skipped: ['skipped', 'skipped', 'left as it was'],
};

function Badge({ look: [shape, colour, word] }: { look: [StepStatus, string, string] }) {
  return (
    <span className={classes.badge} style={{ color: `var(--status-${colour})` }}>
      <StatusShape status={shape} />
      {word}
    </span>
  );
}

export const BulkStatus = ({ status }: { status: Bulk['status'] }) => <Badge look={OPERATION[status]} />;
export const ResultStatus = ({ status }: { status: BulkResultStatus }) => <Badge look={RESULT[status]} />;
