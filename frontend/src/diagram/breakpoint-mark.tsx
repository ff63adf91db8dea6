import classes from './breakpoint-mark.module.css';

/** A hand raised before a step: the run pauses there. A shape of its own, so that no colour has to say it alone. */
export function BreakpointMark() {
  return (
    <span
      className={classes.mark}
      role="img"
      aria-label="Breakpoint"
      title="Breakpoint: the run pauses before this step"
    >
      <svg viewBox="0 0 10 12" width="10" height="12" aria-hidden="true">
        <path d="M1 1h3v10H1zM6 1h3v10H6z" fill="currentColor" />
      </svg>
    </span>
  );
}
