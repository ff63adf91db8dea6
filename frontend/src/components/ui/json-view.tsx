import { useMemo, useState } from 'react';

import { beginningOf, formatBytes } from '../../lib/format';
import { formatJson, isObject, type Json, type JsonObject } from '../../lib/json';
import { CopyButton } from './copy-button';
import classes from './json-view.module.css';

const FIRST = 50;
const LONG_TEXT = 2000;

function Scalar({ value }: { value: Json }) {
  const [whole, setWhole] = useState(false);
  if (typeof value === 'string') {
    const shown = whole ? value : beginningOf(value, LONG_TEXT);
    return (
      <span className={classes.string}>
        {JSON.stringify(shown)}
        {shown.length < value.length ? (
          <button type="button" className={classes.toggle} onClick={() => setWhole(true)}>
            {` … ${value.length - shown.length} more characters`}
          </button>
        ) : null}
      </span>
    );
  }
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  return <span className={isNumber ? classes.number : classes.word}>{String(value)}</span>;
}

function Label({ name }: { name: string | number | null }) {
  return name === null ? null : <span className={classes.key}>{`${name}: `}</span>;
}

interface BranchProps {
  name: string | number | null;
  value: Json;
  depth: number;
}

function Branch({ name, value, depth }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < 2);
  const [most, setMost] = useState(FIRST);
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) {
    return (
      <li className={classes.row}>
        <span className={classes.twist} />
        <Label name={name} />
        <Scalar value={value} />
      </li>
    );
  }
  const entries: [string | number, Json][] = isList ? value.map((one, at) => [at, one]) : Object.entries(value);
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <li>
      <button type="button" className={classes.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className={classes.twist} aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <Label name={name} />
        <span className={classes.hint}>{summary}</span>
      </button>
      {isOpen && entries.length > 0 ? (
        <ul>
          {entries.slice(0, most).map(([key, one]) => (
            <Branch key={key} name={key} value={one} depth={depth + 1} />
          ))}
          {entries.length > most ? (
            <li>
              <button type="button" className={classes.toggle} onClick={() => setMost(most + 200)}>
                <span className={classes.hint}>{`… ${entries.length - most} more`}</span>
              </button>
            </li>
          ) : null}
        </ul>
      ) : null}
    </li>
  );
}

/** A list of objects, or an object with one such list, can be read as a table. */
export function tableRows(value: Json): JsonObject[] | null {
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value).find((one) => isRows(one)) : null;
  return isRows(list) ? list : null;
}

function isRows(value: Json | undefined): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one));
}

function TableView({ rows }: { rows: JsonObject[] }) {
  const columns = useMemo(() => [...new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))], [rows]);
  const cell = (value: Json | undefined) =>
    value === undefined ? '' : typeof value === 'object' && value !== null ? formatJson(value) : String(value);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.scroll} aria-label="Values as a table" tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 200).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a committed output never move
            <tr key={at}>
              {columns.map((column) => (
                <td key={column} title={cell(row[column])}>
                  {cell(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface JsonViewProps {
  value: Json;
  label: string;
  /** Opens as a table where it has rows. */
  prefersTable?: boolean;
}

/** A JSON value to read: as a tree, and as a table where it has rows. Long integers are exact. */
export function JsonView({ value, label, prefersTable = false }: JsonViewProps) {
  const text = useMemo(() => formatJson(value, 2), [value]);
  const rows = useMemo(() => tableRows(value), [value]);
  const [asTable, setAsTable] = useState(prefersTable);
  return (
    <div className={classes.view}>
      <div className={classes.bar}>
        <span className={classes.size}>{formatBytes(new Blob([text]).size)}</span>
        {rows ? (
          <fieldset className={classes.modes} style={{ border: 0, margin: 0, padding: 0 }} aria-label="How to show it">
            <button type="button" className={classes.mode} aria-pressed={!asTable} onClick={() => setAsTable(false)}>
              Tree
            </button>
            <button type="button" className={classes.mode} aria-pressed={asTable} onClick={() => setAsTable(true)}>
              Table
            </button>
          </fieldset>
        ) : null}
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {rows && asTable ? (
        <TableView rows={rows} />
      ) : (
        <div className={classes.tree}>
          <ul aria-label={label}>
            <Branch name={null} value={value} depth={0} />
          </ul>
        </div>
      )}
    </div>
  );
}
