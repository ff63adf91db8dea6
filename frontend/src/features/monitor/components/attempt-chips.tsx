import type { Attempt } from '../../../api/types';
import { StatusShape, type StepStatus } from '../../../diagram';
import { formatDuration, formatExact } from '../../../lib/format';
import { useSelection } from '../selection';
import classes from './step-panel.module.css';

const SHAPES: Readonly<Record<NonNullable<Attempt['outcome']>, StepStatus>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'failed',
  lost: 'failed',
  cancelled: 'cancelled',
  fenced_out: 'cancelled',
  waited: 'waiting',
};

function describe(attempt: Attempt): string {
  const took = attempt.finished_at
    ? `, ${formatDuration(Date.parse(attempt.finished_at) - Date.parse(attempt.started_at))}`
    : '';
  const outcome = attempt.outcome?.replace('_', ' ') ?? 'running';
  return `Attempt ${attempt.number}: ${outcome}${took}, ${formatExact(attempt.started_at)}`;
}

/** A chip an attempt; one of them is looked at. */
export function AttemptChips({ attempts, current }: { attempts: readonly Attempt[]; current: number }) {
  const { attempt, setAttempt } = useSelection();
  if (attempts.length === 0) return null;
  const chosen = attempt ?? current;
  return (
    <fieldset className={classes.chips} aria-label="Attempts">
      {attempts.map((one) => (
        <button
          key={one.number}
          type="button"
          className={classes.chip}
          aria-pressed={one.number === chosen}
          aria-label={describe(one)}
          title={describe(one)}
          onClick={() => setAttempt(one.number)}
        >
          <StatusShape status={one.outcome ? SHAPES[one.outcome] : 'running'} size={11} />
          {one.number}
        </button>
      ))}
    </fieldset>
  );
}
