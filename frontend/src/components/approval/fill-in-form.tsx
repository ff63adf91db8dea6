import { Button } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';

import { ApiError } from '../../api/errors';
import { isObject, type Json } from '../../lib/json';
import classes from './approval-form.module.css';
import { Asked, MayNot } from './asked';
import { SchemaField } from './schema-fields';
import { type QuestionProps, useAnswer } from './use-answer';

/** A form that a step asks a person to fill in. The server checks it, and what it refuses stands at its field. */
export function FillInForm(props: QuestionProps) {
  const { wait, may } = props;
  const [value, setValue] = useState<Json | undefined>(wait.data.initial ?? undefined);
  const answer = useAnswer(props);
  const schema = isObject(wait.data.schema) ? wait.data.schema : {};
  const problems = problemsOf(answer.error);
  return (
    <form
      className={classes.form}
      aria-label="Form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        answer.mutate({ decision: 'submitted', data: value ?? (schema.type === 'object' ? {} : null) });
      }}
    >
      <h3 className={classes.title}>{String(wait.data.title || 'A person is asked to fill this in')}</h3>
      {wait.data.message ? <pre className={classes.message}>{String(wait.data.message)}</pre> : null}
      {may ? (
        <>
          <SchemaField
            schema={schema}
            path="data"
            title={typeof schema.title === 'string' ? schema.title : ''}
            isRequired={false}
            value={value}
            problems={problems}
            onChange={setValue}
          />
          {props.extra}
          <div className={classes.buttons}>
            <Button type="submit" leftSection={<IconSend size={15} />} loading={answer.isPending}>
              Send
            </Button>
          </div>
        </>
      ) : (
        <MayNot />
      )}
      <Asked wait={wait} />
    </form>
  );
}

/** The first problem of each field, by its path. */
function problemsOf(error: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!(error instanceof ApiError) || error.code !== 'answer_refused') return found;
  for (const { field, message } of error.fields) if (!found.has(field)) found.set(field, message);
  if (found.size === 0) found.set('data', error.detail);
  return found;
}
