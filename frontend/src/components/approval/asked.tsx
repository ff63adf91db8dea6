import { TimeAgo } from '../ui/time';
import classes from './approval-form.module.css';
import type { QuestionProps } from './use-answer';

/** Since when it is asked, and until when it must be answered. */
export function Asked({ wait }: Pick<QuestionProps, 'wait'>) {
  return (
    <span className={classes.meta}>
      Asked <TimeAgo at={wait.opened_at} />
      {wait.expires_at ? (
        <>
          , must be answered <TimeAgo at={wait.expires_at} />
        </>
      ) : null}
    </span>
  );
}

export const MayNot = () => (
  <span className={classes.meta}>Your role may not answer. Operators, editors, admins and the owner may.</span>
);
