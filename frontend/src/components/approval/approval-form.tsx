import { Button, Textarea } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useState } from 'react';

import { ApiError } from '../../api/errors';
import type { AnswerCommand } from '../../api/workspace-calls';
import { formatJson, type Json, parseJson } from '../../lib/json';
import { JsonView } from '../ui/json-view';
import classes from './approval-form.module.css';
import { Asked, MayNot } from './asked';
import { type QuestionProps, useAnswer } from './use-answer';
import { needsSeveral, Votes } from './votes';

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** A question to a person, with what they need to decide it, and the two answers. */
export function ApprovalForm(props: QuestionProps) {
  const { wait, may } = props;
  const shown = wait.data.data ?? null;
  const [comment, setComment] = useState('');
  const [data, setData] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  const answer = useAnswer(props);
  const decide = (decision: AnswerCommand['decision']) => {
    const given = readData(data, shown);
    if (given.problem) return setProblem(given.problem);
    answer.mutate({ decision, comment, ...(given.data === null ? {} : { data: given.data }) });
  };
  return (
    <section className={classes.form} aria-label="Approval">
      <h3 className={classes.title}>{text(wait.data.title) || 'A person is asked to approve this'}</h3>
      {wait.data.message ? <pre className={classes.message}>{text(wait.data.message)}</pre> : null}
      {shown !== null && data === null ? <JsonView value={shown} label="data to decide on" prefersTable /> : null}
      {data !== null ? (
        <Textarea
          label="Data given on with the answer"
          value={data}
          onChange={(event) => setData(event.currentTarget.value)}
          error={problem}
          autosize
          minRows={4}
          maxRows={16}
          styles={{ input: { fontFamily: 'var(--pawl-mono)' } }}
        />
      ) : null}
      <Votes wait={wait} />
      {answer.error instanceof ApiError && answer.error.code === 'answer_refused' ? (
        <p className={classes.problem} role="alert">
          {answer.error.detail}
        </p>
      ) : null}
      {may && shown !== null && data === null && !needsSeveral(wait) ? (
        <button type="button" className={classes.link} onClick={() => setData(formatJson(shown, 2))}>
          Change the data before answering
        </button>
      ) : null}
      {props.extra}
      {may ? (
        <Textarea
          label={text(wait.data.note_prompt) || 'Comment'}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          autosize
          minRows={1}
          maxRows={6}
        />
      ) : (
        <MayNot />
      )}
      {may ? (
        <div className={classes.buttons}>
          <Button leftSection={<IconCheck size={15} />} loading={answer.isPending} onClick={() => decide('approved')}>
            Approve
          </Button>
          <Button
            variant="default"
            leftSection={<IconX size={15} />}
            disabled={answer.isPending}
            onClick={() => decide('rejected')}
          >
            Reject
          </Button>
        </div>
      ) : null}
      <Asked wait={wait} />
    </section>
  );
}

/** What the answer carries: the changed data, else the shown data as it stands. */
function readData(changed: string | null, shown: Json): { data: Json; problem?: string } {
  if (changed === null) return { data: shown };
  try {
    return { data: parseJson(changed) as Json };
  } catch (error) {
    return { data: null, problem: `This is not JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}
