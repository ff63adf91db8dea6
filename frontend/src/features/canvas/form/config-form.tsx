import { useMemo } from 'react';

import type { JsonObject, StepKind } from '../../../diagram';
import { isObject, type Json } from '../../../lib/json';
import type { Problem } from '../api';
import type { Scope } from './completion';
import { FieldRow } from './field-row';
import classes from './form.module.css';
import { ConnectionKinds } from './inputs/connection';
import { type Field, fieldsOf, isShown, problemsOfField, withField } from './schema';

interface Props {
  kind: StepKind;
  config: JsonObject;
  problems: readonly Problem[];
  scope: Scope;
  readOnly: boolean;
  /** `field` is the topic that typing in one field is gathered under. */
  onChange: (config: JsonObject, field: string) => void;
}

/** The form of a step, made of its kind's JSON Schema: the needed fields first, the rest below. */
export function ConfigForm({ kind, config, problems, scope, readOnly, onChange }: Props) {
  const fields = useMemo(() => fieldsOf(kind.schema), [kind]);
  if (fields.length === 0) return <p className={classes.help}>This step has no settings.</p>;
  return (
    <ConnectionKinds value={kind.connection_kinds}>
      <div className={classes.form}>
        {fields
          .filter((field) => isShown(field, config, fields))
          .map((field) => (
            <Row
              key={field.name}
              field={field}
              value={config[field.name]}
              problems={problemsOfField(problems, field.name)}
              scope={scope}
              readOnly={readOnly}
              onChange={(value) => onChange(withField(config, field, value), field.name)}
            />
          ))}
      </div>
    </ConnectionKinds>
  );
}

interface RowProps {
  field: Field;
  value: Json | undefined;
  problems: readonly Problem[];
  scope: Scope;
  readOnly: boolean;
  onChange: (value: Json | undefined) => void;
}

function Row(props: RowProps) {
  const { field, value, onChange } = props;
  if (field.widget !== 'object') return <FieldRow {...props} />;
  const inside = isObject(value) ? value : {};
  return (
    <fieldset className={classes.group}>
      <legend className={classes.title}>{field.title}</legend>
      {field.fields
        .filter((one) => isShown(one, inside, field.fields))
        .map((one) => (
          <Row
            key={one.name}
            {...props}
            field={one}
            value={inside[one.name]}
            onChange={(next) => onChange(withField(inside, one, next))}
          />
        ))}
    </fieldset>
  );
}
