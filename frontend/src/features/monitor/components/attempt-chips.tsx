import type { Attempt } from '../../../api/types';
import { StatusShape, type StepStatus } from '../../../diagram';
import { formatDuration, formatExact } from '../../../lib/format';
import type { LiveStep } from '../reducer';
import { useSelection } from '../selection';
import classes from './step-panel.module.css';

interface Chip {
  number: number;
  shape: StepStatus;
  sentence: string;
}

const SHAPES: Readonly<Record<Attempt['outcome'], StepStatus>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'failed',
  lost: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
};

function endedChip({ number, outcome, started_at, finished_at }: Attempt): Chip {
  const took = started_at ? `, ${formatDuration(Date.parse(finished_at) - Date.parse(started_at))}` : '';
  const sentence = `Attempt ${number}: ${outcome.replace('_', ' ')}${took}, ${formatExact(finished_at)}`;
  return { number, shape: SHAPES[outcome], sentence };
}

/** The attempts that ended, and the one that has not. */
export function chipsOf(step: LiveStep, attempts: readonly Attempt[]): Chip[] {
  const chips = attempts.map(endedChip);
  if (step.attempt > 0 && !attempts.some((one) => one.number === step.attempt)) {
    const isOpen = step.status === 'running' || step.status === 'waiting';
    const word = isOpen ? step.status : 'ended';
    const shape = isOpen ? step.status : 'ready';
    chips.push({ number: step.attempt, shape, sentence: `Attempt ${step.attempt}: ${word}` });
  }
  return chips;
}

/** A chip an attempt; one of them is looked at. */
export function AttemptChips({ step, attempts }: { step: LiveStep; attempts: readonly Attempt[] }) {
  const { attempt, setAttempt } = useSelection();
  const chips = chipsOf(step, attempts);
  if (chips.length === 0) return null;
  const chosen = attempt ?? step.attempt;
  return (
    <fieldset className={classes.chips} aria-label="Attempts">
      {chips.map(({ number, shape, sentence }) => (
        <button
          key={number}
          type="button"
          className={classes.chip}
          aria-pressed={number === chosen}
          aria-label={sentence}
          title={sentence}
          onClick={() => setAttempt(number)}
        >
          <StatusShape status={shape} size={11} />
          {number}
        </button>
      ))}
    </fieldset>
  );
}
