import { TextInput } from '@mantine/core';

import { formatJson, isObject, type Json, type JsonObject, parseJson } from '../../../../lib/json';
import classes from '../form.module.css';
import { Add, Remove } from './rows';
import type { InputProps } from './types';

const casesOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

function asEquals(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return parseJson(text) as Json;
  } catch {
    return text;
  }
}

const showEquals = (value: Json | undefined): string =>
  value == null ? '' : typeof value === 'string' ? value : formatJson(value);

/** The ways of a switch: each case is a port of the node. */
export function CasesField({ field, value, onChange, readOnly }: InputProps) {
  const cases = casesOf(value);
  const names = cases.map((one) => one.name);
  const set = (at: number, patch: JsonObject) =>
    onChange(cases.map((one, place) => (place === at ? { ...one, ...patch } : one)));
  const setEquals = (at: number, equals: Json | undefined) => {
    const { equals: _, ...rest } = cases[at] ?? {};
    onChange(cases.map((one, place) => (place === at ? (equals === undefined ? rest : { ...rest, equals }) : one)));
  };
  return (
    <div className={classes.rows}>
      {cases.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place decides which case wins
        <div key={at} className={classes.row}>
          <TextInput
            aria-label={`Name of case ${at + 1}`}
            className={classes.rowName}
            value={typeof one.name === 'string' ? one.name : ''}
            placeholder="name of its port"
            error={one.name !== '' && names.indexOf(one.name) !== at ? 'twice' : false}
            readOnly={readOnly}
            onChange={(event) => set(at, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Case ${at + 1} equals`}
            className={classes.rowValue}
            classNames={{ input: classes.mono }}
            value={showEquals(one.equals)}
            placeholder="equals its name"
            readOnly={readOnly}
            onChange={(event) => setEquals(at, asEquals(event.currentTarget.value))}
          />
          <Remove
            label={`Remove case ${at + 1}`}
            readOnly={readOnly}
            onClick={() => onChange(cases.filter((_, place) => place !== at))}
          />
        </div>
      ))}
      <Add
        label={`Add to ${field.title.toLowerCase()}`}
        readOnly={readOnly}
        onClick={() => onChange([...cases, { name: '' }])}
      />
    </div>
  );
}
