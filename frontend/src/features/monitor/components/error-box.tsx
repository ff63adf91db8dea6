import type { StepError } from '../../../api/types';
import { CopyButton } from '../../../components/ui/copy-button';
import { helpFor } from '../error-help';
import classes from './step-panel.module.css';

/** What happened, what it means, what to do. Amber where Pawl tries again by itself. */
export function ErrorBox({ error, isFinal }: { error: StepError; isFinal: boolean }) {
  const { meaning, advice } = helpFor(error);
  return (
    <section className={classes.error} data-tone={isFinal ? 'red' : 'amber'} aria-label="Error">
      <div className={classes.errorHead}>
        <div className={classes.titleRow}>
          <span className={`${classes.titles} ${classes.code}`}>{error.code}</span>
          <CopyButton text={`${error.code}: ${error.message}`} label="Copy the error" />
        </div>
        <p className={classes.message}>{error.message}</p>
      </div>
      <div className={classes.advice}>
        <dl>
          <div>
            <dt>What it means</dt>
            <dd>{meaning}</dd>
          </div>
          {isFinal ? (
            <div>
              <dt>What you can do</dt>
              <dd>{advice}</dd>
            </div>
          ) : null}
        </dl>
      </div>
    </section>
  );
}
