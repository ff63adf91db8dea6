import type { ProblemLevel } from './context';
import classes from './problem-mark.module.css';

const TITLES = { error: 'Has a problem', warning: 'Has a warning', hint: 'Has a hint' } as const;

/** On the corner of a step: something about it is wrong, doubtful, or could be better. */
export function ProblemMark({ level }: { level: ProblemLevel }) {
  return (
    <span className={classes.mark} data-level={level} role="img" aria-label={TITLES[level]} title={TITLES[level]}>
      {level === 'hint' ? 'i' : '!'}
    </span>
  );
}
