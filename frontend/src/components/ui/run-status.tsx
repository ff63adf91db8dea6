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

const LAST_KNOWN = 'That was so then; it may have gone on.';

const WAITING: Look = {
  shape: 'waiting',
  colour: 'waiting',
  word: 'waiting',
  sentence: 'Waits for a person or a time; no worker is held.',
};

const GOES_ON: ReadonlySet<string> = new Set(['running', 'cancelling']);

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
  /** Nothing is heard any more: what goes on is not said to go on. */
  isLost?: boolean;
}

export function RunStatusBadge({ status, isWaiting = false, isLost = false }: RunStatusBadgeProps) {
  const known = status === 'running' && isWaiting ? WAITING : LOOKS[status];
  const look: Look =
    isLost && GOES_ON.has(status)
      ? { shape: 'was_running', colour: 'pending', word: `was ${known.word}`, sentence: LAST_KNOWN }
      : known;
  const colours = { color: `var(--status-${look.colour})`, background: `var(--status-${look.colour}-soft)` };
  return (
    <span className={classes.badge} style={colours} title={look.sentence} data-run-status={status}>
      <StatusShape status={look.shape} />
      {look.word}
    </span>
  );
}
