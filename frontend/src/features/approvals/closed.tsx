import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { ApiError } from '../../api/errors';
import { keys } from '../../api/query-keys';
import type { OpenWait } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { readWait } from '../../api/workspace-calls';
import { ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { isObject } from '../../lib/json';
import { paths } from '../../lib/paths';
import classes from './inbox.module.css';

/** A question that a link leads to and that is not among the open ones: what became of it. */
export function ClosedQuestion({ id }: { id: string }) {
  const ws = useWorkspace();
  const wait = useQuery({
    queryKey: keys.wait(ws, id),
    queryFn: ({ signal }) => readWait(ws, id, { signal }),
    retry: false,
  });
  if (wait.isPending) return <LoadingRows label="Loading the question" rows={3} />;
  if (wait.isError) {
    const isGone = wait.error instanceof ApiError && wait.error.status === 404;
    if (isGone)
      return <p className={classes.closed}>This question is gone: its run was deleted, or it is not yours.</p>;
    return <ErrorState error={wait.error} what="the question" onRetry={wait.refetch} compact />;
  }
  return <Became wait={wait.data} />;
}

const WORDS: { [status: string]: string } = {
  expired: 'Nobody answered it before its deadline.',
  closed: 'It was closed without an answer: the run was cancelled, resumed, or went another way.',
  open: 'It is open.',
};

function Became({ wait }: { wait: OpenWait }) {
  const ws = useWorkspace();
  const answer = isObject(wait.answer) ? wait.answer : {};
  const decision = typeof answer.decision === 'string' ? answer.decision : 'answered';
  return (
    <section className={classes.closed} aria-label="What became of it">
      <h2>{String(wait.data.title ?? wait.path)}</h2>
      <p>
        {wait.status === 'answered' ? (
          <>
            {wait.answered_by ?? 'Somebody'} {decision === 'answered' ? 'answered' : decision} it{' '}
            <TimeAgo at={wait.answered_at} />
            {typeof answer.comment === 'string' && answer.comment ? `: ${answer.comment}` : '.'}
          </>
        ) : (
          WORDS[wait.status]
        )}
      </p>
      <p>
        <Link to={paths.run(ws, wait.run.id, wait.path)}>
          Run {wait.run.number} of {wait.run.workflow.name}
        </Link>
      </p>
    </section>
  );
}
