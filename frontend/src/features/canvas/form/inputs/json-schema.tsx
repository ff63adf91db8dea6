import { Checkbox, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useState } from 'react';

import { isObject, type Json, type JsonObject } from '../../../../lib/json';
import classes from '../form.module.css';
import { JsonField } from './code';
import { Add, Remove } from './rows';
import type { InputProps } from './types';

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array'];
const SIMPLE = new Set(['type', 'title', 'default', 'description']);

/** An object of plain fields: the table can show all of it. Anything else is edited as JSON. */
function isPlain(schema: Json | undefined): boolean {
  if (schema === undefined || (isObject(schema) && Object.keys(schema).length === 0)) return true;
  if (!isObject(schema) || schema.type !== 'object') return false;
  if (Object.keys(schema).some((name) => !['type', 'properties', 'required'].includes(name))) return false;
  return Object.values(isObject(schema.properties) ? schema.properties : {}).every(
    (one) => isObject(one) && TYPES.includes(String(one.type)) && Object.keys(one).every((name) => SIMPLE.has(name)),
  );
}

export function JsonSchemaField(props: InputProps) {
  const value = props.value ?? props.field.default;
  const [wantsJson, setWantsJson] = useState(false);
  const plain = isPlain(value);
  const asJson = wantsJson || !plain;
  return (
    <div className={classes.rows}>
      {plain ? (
        <SegmentedControl
          size="xs"
          aria-label="How to edit it"
          value={asJson ? 'json' : 'fields'}
          onChange={(mode) => setWantsJson(mode === 'json')}
          data={[
            { value: 'fields', label: 'Fields' },
            { value: 'json', label: 'JSON Schema' },
          ]}
        />
      ) : null}
      {asJson ? <JsonField {...props} /> : <FieldsTable {...props} value={value} />}
    </div>
  );
}

function FieldsTable({ value, onChange, readOnly }: InputProps) {
  const schema = isObject(value) ? value : {};
  const entries = Object.entries(isObject(schema.properties) ? schema.properties : {}) as [string, JsonObject][];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const tell = (next: [string, JsonObject][], needs: ReadonlySet<Json>) => {
    const names = next.map(([name]) => name).filter((name) => needs.has(name));
    onChange({
      type: 'object',
      ...(names.length > 0 ? { required: names } : {}),
      properties: Object.fromEntries(next),
    });
  };
  const rename = (at: number, name: string) => {
    const old = entries[at]?.[0] ?? '';
    if (entries.some(([other], place) => place !== at && other === name)) return;
    const needs = new Set(required);
    if (needs.delete(old)) needs.add(name);
    tell(
      entries.map((entry, place) => (place === at ? [name, entry[1]] : entry)),
      needs,
    );
  };
  const toggle = (name: string) => {
    const needs = new Set(required);
    if (!needs.delete(name)) needs.add(name);
    tell(entries, needs);
  };
  return (
    <>
      {entries.map(([name, one], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what is being typed
        <div key={at} className={classes.row}>
          <TextInput
            aria-label={`Name of input ${at + 1}`}
            className={classes.rowValue}
            classNames={{ input: classes.mono }}
            value={name}
            readOnly={readOnly}
            onChange={(event) => rename(at, event.currentTarget.value)}
          />
          <Select
            aria-label={`Type of ${name}`}
            w={104}
            data={TYPES}
            value={String(one.type)}
            allowDeselect={false}
            readOnly={readOnly}
            onChange={(type) =>
              tell(
                entries.map((e, place) => (place === at ? [name, { ...one, type: type ?? 'string' }] : e)),
                required,
              )
            }
          />
          <Checkbox
            aria-label={`${name} is required`}
            title="Required"
            mt={7}
            checked={required.has(name)}
            disabled={readOnly}
            onChange={() => toggle(name)}
          />
          <Remove
            label={`Remove ${name}`}
            readOnly={readOnly}
            onClick={() =>
              tell(
                entries.filter((_, place) => place !== at),
                required,
              )
            }
          />
        </div>
      ))}
      <Add
        label="Add an input"
        readOnly={readOnly}
        onClick={() => tell([...entries, [freeName(entries.map(([name]) => name)), { type: 'string' }]], required)}
      />
    </>
  );
}

function freeName(taken: readonly string[]): string {
  let count = taken.length + 1;
  while (taken.includes(`input_${count}`)) count += 1;
  return `input_${count}`;
}
