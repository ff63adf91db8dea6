import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { CodeEditor } from '../../../../components/code/code-editor';
import { formatJson, isObject, type Json, parseJson } from '../../../../lib/json';
import type { Scope } from '../completion';
import classes from '../form.module.css';
import type { InputProps } from './types';

interface Row {
  id: number;
  name: string;
  value: Json;
}

const asText = (value: Json): string => (typeof value === 'string' ? value : formatJson(value));

/** What a person types in a value: numbers, true, null, lists and objects keep their type; anything else is text. */
function asValue(text: string): Json {
  if (!/^\s*(-?\d|true$|false$|null$|\[|\{[^{%])/.test(text)) return text;
  try {
    return parseJson(text) as Json;
  } catch {
    return text;
  }
}

const rowsOf = (value: Json | undefined): [string, Json][] => (isObject(value) ? Object.entries(value) : []);

/** Rows live here while they are typed (an object cannot hold two empty names); the document gets the named ones. */
function useRows(value: Json | undefined, onChange: InputProps['onChange']) {
  const counter = useRef(0);
  const number = ([name, one]: [string, Json]): Row => {
    counter.current += 1;
    return { id: counter.current, name, value: one };
  };
  const [rows, setRows] = useState<Row[]>(() => rowsOf(value).map(number));
  const told = useRef(formatJson(value ?? {}));
  // biome-ignore lint/correctness/useExhaustiveDependencies: `number` only counts
  useEffect(() => {
    if (formatJson(value ?? {}) === told.current) return;
    told.current = formatJson(value ?? {});
    setRows(rowsOf(value).map(number));
  }, [value]);
  const change = (next: Row[]) => {
    setRows(next);
    const made = Object.fromEntries(next.filter((row) => row.name !== '').map((row) => [row.name, row.value]));
    told.current = formatJson(made);
    onChange(Object.keys(made).length === 0 ? undefined : made);
  };
  return { rows, change, add: () => setRows((now) => [...now, number(['', ''])]) };
}

export function KeyValuesField({ field, value, onChange, scope, readOnly }: InputProps) {
  const { rows, change, add } = useRows(value ?? field.default, onChange);
  const twice = new Set(
    rows.filter((row, at) => rows.findIndex((one) => one.name === row.name) !== at).map((row) => row.name),
  );
  const set = (id: number, patch: Partial<Row>) =>
    change(rows.map((row) => (row.id === id ? { ...row, ...patch } : row)));
  return (
    <div className={classes.rows}>
      {rows.map((row) => (
        <div key={row.id} className={classes.row}>
          <TextInput
            aria-label={`${field.title}: name`}
            className={classes.rowName}
            classNames={{ input: classes.mono }}
            value={row.name}
            placeholder="name"
            error={row.name !== '' && twice.has(row.name) ? 'twice' : false}
            readOnly={readOnly}
            onChange={(event) => set(row.id, { name: event.currentTarget.value })}
          />
          <Line
            label={`${field.title}: ${row.name || 'value'}`}
            value={asText(row.value)}
            scope={scope}
            readOnly={readOnly}
            onChange={(text) => set(row.id, { value: asValue(text) })}
          />
          <Remove
            label={`Remove ${row.name || 'this row'}`}
            readOnly={readOnly}
            onClick={() => change(rows.filter((one) => one.id !== row.id))}
          />
        </div>
      ))}
      <Add label={`Add to ${field.title.toLowerCase()}`} readOnly={readOnly} onClick={add} />
    </div>
  );
}

export function ListField({ field, value, onChange, scope, readOnly }: InputProps) {
  const items = Array.isArray(value) ? value : [];
  const change = (next: Json[]) => onChange(next.length === 0 && !field.required ? undefined : next);
  return (
    <div className={classes.rows}>
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list of texts has no other name for its entries
        <div key={at} className={classes.row}>
          <Line
            label={`${field.title} ${at + 1}`}
            value={asText(item)}
            scope={scope}
            readOnly={readOnly}
            onChange={(text) => change(items.map((one, place) => (place === at ? text : one)))}
          />
          <Remove
            label={`Remove ${at + 1}`}
            readOnly={readOnly}
            onClick={() => change(items.filter((_, place) => place !== at))}
          />
        </div>
      ))}
      <Add label={`Add to ${field.title.toLowerCase()}`} readOnly={readOnly} onClick={() => change([...items, ''])} />
    </div>
  );
}

interface LineProps {
  label: string;
  value: string;
  scope: Scope;
  readOnly: boolean;
  onChange: (text: string) => void;
}

function Line(props: LineProps) {
  return (
    <div className={classes.rowValue}>
      <CodeEditor {...props} />
    </div>
  );
}

export function Remove({ label, readOnly, onClick }: { label: string; readOnly: boolean; onClick: () => void }) {
  if (readOnly) return null;
  return (
    <ActionIcon size={28} aria-label={label} onClick={onClick}>
      <IconX size={14} />
    </ActionIcon>
  );
}

export function Add({ label, readOnly, onClick }: { label: string; readOnly: boolean; onClick: () => void }) {
  if (readOnly) return null;
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-xs"
      leftSection={<IconPlus size={13} />}
      onClick={onClick}
      className={classes.add}
    >
      {label}
    </Button>
  );
}
