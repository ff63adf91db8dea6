import type { RunStatus } from '../../api/types';
import { StatusShape } from '../../diagram/status-badge';
import type { StepStatus } from '../../diagram/types';
import classes from './run-status.module.css';

interface Look {
  shape: StepStatus;
  colour: string;
  word: string;
  sentence: string;
}

const WAITING: Look = {
  shape: 'waiting',
  colour: 'waiting',
  word: 'waiting',
  sentence: 'Waits for a person or a time; no worker is held.',
};

const LOOKS: Readonly<Record<RunStatus, Look>> = {
  running: { shape: 'running', colour: 'running', word: 'running', sentence: 'Steps run, or are about to.' },
  paused: { shape: 'waiting', colour: 'retrying', word: 'paused', sentence: 'Nothing new starts.' },
  cancelling: {
    shape: 'cancelled',
    colour: 'cancelled',
    word: 'cancelling',
    sentence: 'Running steps are told to stop.',
  },
  succeeded: { shape: 'succeeded', colour: 'succeeded', word: 'succeeded', sentence: 'Every step is finished.' },
  failed: {
    shape: 'failed',
    colour: 'failed',
    word: 'failed',
    sentence: 'A step failed and nobody handled it. It can be resumed.',
  },
  cancelled: {
    shape: 'cancelled',
    colour: 'cancelled',
    word: 'cancelled',
    sentence: 'A person stopped it. It can be resumed.',
  },
};

interface RunStatusBadgeProps {
  status: RunStatus;
  /** A running run that only waits. */
  isWaiting?: boolean;
}

export function RunStatusBadge({ status, isWaiting = false }: RunStatusBadgeProps) {
  const look = status === 'running' && isWaiting ? WAITING : LOOKS[status];
  const colours = { color: `var(--status-${look.colour})`, background: `var(--status-${look.colour}-soft)` };
  return (
    <span className={classes.badge} style={colours} title={look.sentence} data-run-status={status}>
      <StatusShape status={look.shape} />
      {look.word}
    </span>
  );
}
