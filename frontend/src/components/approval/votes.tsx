import type { Json } from '../../lib/json';
import { TimeAgo } from '../ui/time';
import classes from './approval-form.module.css';
import type { QuestionProps } from './use-answer';

const numberOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 1);

export const needsSeveral = (wait: QuestionProps['wait']): boolean =>
  numberOf(wait.data.approvals_needed) > 1 || numberOf(wait.data.rejections_needed) > 1;

/** Of an approval by several people: how many are needed, and who has answered so far. */
export function Votes({ wait }: Pick<QuestionProps, 'wait'>) {
  if (!needsSeveral(wait)) return null;
  const [approvals, rejections] = [numberOf(wait.data.approvals_needed), numberOf(wait.data.rejections_needed)];
  const approved = wait.votes.filter((vote) => vote.decision === 'approved').length;
  return (
    <div className={classes.votes}>
      <span>
        {approved} of {approvals} approvals.{' '}
        {rejections === 1 ? 'One rejection rejects it.' : `${rejections} rejections reject it.`}
      </span>
      {wait.votes.length > 0 ? (
        <ul aria-label="Answers so far">
          {wait.votes.map((vote) => (
            <li key={`${vote.name}${vote.at}`}>
              {vote.name} {vote.decision} it <TimeAgo at={vote.at} />
              {vote.comment ? `: ${vote.comment}` : ''}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
