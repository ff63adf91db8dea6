import { ActionIcon, Tooltip } from '@mantine/core';
import { IconBraces, IconForms } from '@tabler/icons-react';
import { memo, useState } from 'react';

import type { Json } from '../../../lib/json';
import type { Problem } from '../api';
import { FixButton } from '../components/fix-button';
import classes from './form.module.css';
import { CasesField } from './inputs/cases';
import { CodeField, JsonField } from './inputs/code';
import { ConnectionField } from './inputs/connection';
import { JsonSchemaField } from './inputs/json-schema';
import { DurationField, NumberField, SelectField, SwitchField } from './inputs/plain';
import { KeyValuesField, ListField } from './inputs/rows';
import { DateTimeInput, TemplateInput } from './inputs/text';
import type { InputProps } from './inputs/types';
import { WorkflowField } from './inputs/workflow';
import { isExpression, type Widget } from './schema';

const INPUTS: Readonly<Record<Exclude<Widget, 'object'>, React.ComponentType<InputProps>>> = {
  text: TemplateInput,
  textarea: TemplateInput,
  expression: TemplateInput,
  file: TemplateInput,
  number: NumberField,
  switch: SwitchField,
  select: SelectField,
  duration: DurationField,
  datetime: DateTimeInput,
  code: CodeField,
  json: JsonField,
  'json-schema': JsonSchemaField,
  'key-values': KeyValuesField,
  list: ListField,
  cases: CasesField,
  connection: ConnectionField,
  workflow: WorkflowField,
};

/** Widgets in which an expression can be written anyway: one that changed under the typing hand would lose its words. */
const HOLD_EXPRESSIONS = new Set<Widget>(['text', 'textarea', 'expression', 'file', 'json']);

export interface FieldRowProps extends Omit<InputProps, 'invalid'> {
  problems: readonly Problem[];
}

/** A field with its name, its two ways (fixed value or expression), and what is wrong with it. */
export const FieldRow = memo(function FieldRow({ problems, ...props }: FieldRowProps) {
  const { field, value, onChange, readOnly } = props;
  const mayToggle = !field.literal && !HOLD_EXPRESSIONS.has(field.widget);
  const [wantsExpression, setWantsExpression] = useState(false);
  const asExpression = mayToggle && (isExpression(value) || wantsExpression);
  const errors = problems.filter((problem) => problem.severity === 'error');
  const Input = INPUTS[asExpression ? 'text' : (field.widget as Exclude<Widget, 'object'>)];
  const toggle = () => {
    setWantsExpression(!asExpression);
    onChange(asExpression ? undefined : startOf(value ?? field.default));
  };
  return (
    <div className={classes.field} data-field={field.name}>
      <div className={classes.label}>
        <span className={classes.title}>{field.title}</span>
        {field.required ? <span className={classes.required}>required</span> : null}
        {mayToggle && !readOnly ? (
          <Tooltip label={asExpression ? 'Write a fixed value instead' : 'Use an expression instead'}>
            <ActionIcon
              size={22}
              className={classes.toggle}
              aria-label={`${field.title}: ${asExpression ? 'fixed value' : 'expression'} instead`}
              aria-pressed={asExpression}
              onClick={toggle}
            >
              {asExpression ? <IconForms size={14} /> : <IconBraces size={14} />}
            </ActionIcon>
          </Tooltip>
        ) : null}
      </div>
      <Input {...props} field={asExpression ? { ...field, widget: 'text' } : field} invalid={errors.length > 0} />
      {problems.map((problem) => (
        <p key={`${problem.code}${problem.message}`} className={classes.error} data-severity={problem.severity}>
          {problem.message} <FixButton problem={problem} />
        </p>
      ))}
      {field.description ? <p className={classes.help}>{field.description}</p> : null}
    </div>
  );
});

/** A fixed value becomes an expression that says the same, as far as it can. */
function startOf(value: Json | undefined): string {
  return typeof value === 'number' || typeof value === 'boolean' ? `{{ ${value} }}` : '{{  }}';
}
