import { NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';

import { formatJson, isObject, type Json, type JsonObject, parseJson } from '../../lib/json';
import classes from './approval-form.module.css';

interface FieldProps {
  schema: JsonObject;
  /** As the server names it in its problems: `data.street`, `data.lines[0].price`. */
  path: string;
  title: string;
  isRequired: boolean;
  value: Json | undefined;
  /** What is wrong, by path. */
  problems: ReadonlyMap<string, string>;
  onChange: (value: Json | undefined) => void;
}

const LONG_TEXT = 200;
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** The inputs of a JSON Schema. What no input is made for is filled in as JSON; the server checks all of it. */
export function SchemaField(props: FieldProps) {
  const { schema } = props;
  if (Array.isArray(schema.enum)) return <Choice {...props} options={schema.enum} />;
  if (schema.type === 'object' && isObject(schema.properties)) return <ObjectFields {...props} />;
  if (schema.type === 'boolean') return <YesOrNo {...props} />;
  if (schema.type === 'number' || schema.type === 'integer') return <NumberField {...props} />;
  if (schema.type === 'string') return <TextField {...props} />;
  if (schema.type === 'array' && asObject(schema.items).type === 'string') return <TextsField {...props} />;
  return <AnyField {...props} />;
}

const common = ({ title, schema, isRequired, problems, path }: FieldProps) => ({
  label: title,
  description: text(schema.description) || undefined,
  required: isRequired,
  error: problems.get(path),
});

function ObjectFields({ schema, path, title, value, problems, onChange }: FieldProps) {
  const given = asObject(value);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const change = (name: string, next: Json | undefined) => {
    const { [name]: _, ...rest } = given;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <fieldset className={classes.fields}>
      {title ? <legend>{title}</legend> : null}
      {problems.get(path) ? (
        <p className={classes.problem} role="alert">
          {problems.get(path)}
        </p>
      ) : null}
      {Object.entries(asObject(schema.properties)).map(([name, inner]) => (
        <SchemaField
          key={name}
          schema={asObject(inner)}
          path={`${path}.${name}`}
          title={text(asObject(inner).title) || name}
          isRequired={required.includes(name)}
          value={given[name]}
          problems={problems}
          onChange={(next) => change(name, next)}
        />
      ))}
    </fieldset>
  );
}

/** Options may be any JSON: they are told apart, and given back, by their JSON. */
function Choice({ options, ...props }: FieldProps & { options: Json[] }) {
  const shown = (option: Json) => (typeof option === 'string' ? option : formatJson(option));
  const at = options.findIndex((option) => formatJson(option) === formatJson(props.value));
  return (
    <Select
      {...common(props)}
      data={options.map((option, index) => ({ value: String(index), label: shown(option) }))}
      value={props.value === undefined || at < 0 ? null : String(at)}
      clearable={!props.isRequired}
      placeholder="Choose"
      onChange={(index) => props.onChange(index === null ? undefined : options[Number(index)])}
    />
  );
}

function YesOrNo(props: FieldProps) {
  const { required: _, ...rest } = common(props);
  return (
    <Switch
      {...rest}
      checked={props.value === true}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  );
}

function NumberField(props: FieldProps) {
  return (
    <NumberInput
      {...common(props)}
      value={typeof props.value === 'number' ? props.value : ''}
      allowDecimal={props.schema.type === 'number'}
      clampBehavior="none"
      onChange={(next) => props.onChange(next === '' ? undefined : Number(next))}
    />
  );
}

const INPUT_TYPES: { [format: string]: string } = { date: 'date', time: 'time', email: 'email', uri: 'url' };

function TextField(props: FieldProps) {
  const { maxLength, format } = props.schema;
  const input = {
    ...common(props),
    value: text(props.value),
    onChange: (event: { currentTarget: { value: string } }) => props.onChange(event.currentTarget.value || undefined),
  };
  return typeof maxLength === 'number' && maxLength > LONG_TEXT ? (
    <Textarea {...input} autosize minRows={2} maxRows={12} />
  ) : (
    <TextInput {...input} type={INPUT_TYPES[text(format)] ?? 'text'} />
  );
}

function TextsField(props: FieldProps) {
  const given = Array.isArray(props.value) ? props.value.map(text) : [];
  return (
    <TagsInput
      {...common(props)}
      value={given}
      onChange={(next) => props.onChange(next.length > 0 ? next : undefined)}
    />
  );
}

function AnyField(props: FieldProps) {
  const [written, setWritten] = useState(props.value === undefined ? '' : formatJson(props.value, 2));
  const [isJson, setIsJson] = useState(true);
  const write = (next: string) => {
    setWritten(next);
    try {
      props.onChange(next.trim() ? (parseJson(next) as Json) : undefined);
      setIsJson(true);
    } catch {
      props.onChange(next);
      setIsJson(false);
    }
  };
  return (
    <Textarea
      {...common(props)}
      description={text(props.schema.description) || 'A JSON value.'}
      error={isJson ? props.problems.get(props.path) : 'This is not JSON; it would be sent as a text.'}
      value={written}
      onChange={(event) => write(event.currentTarget.value)}
      autosize
      minRows={2}
      maxRows={16}
      styles={{ input: { fontFamily: 'var(--pawl-mono)' } }}
    />
  );
}
