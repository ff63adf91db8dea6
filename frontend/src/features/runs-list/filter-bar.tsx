import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { listWorkflows } from '../../api/workspace-calls';
import { AddFilter } from './add-filter';
import { chipsOf } from './chips';
import { type FilterName, type Filters, listed, toggled } from './filters';
import classes from './runs.module.css';

interface FilterBarProps {
  filters: Filters;
  set: (name: FilterName, value: string) => void;
  clear: () => void;
  children?: ReactNode;
}

const STATUSES = ['running', 'paused', 'failed', 'succeeded', 'cancelled'];

/** What is filtered stands in the address; each chip takes one filter away. */
export function FilterBar({ filters, set, clear, children }: FilterBarProps) {
  const ws = useWorkspace();
  const workflows = useQuery({
    queryKey: keys.workflows(ws),
    queryFn: ({ signal }) => listWorkflows(ws, { signal }),
    staleTime: 30_000,
  });
  const names = (workflows.data?.items ?? []).map((one) => ({ value: one.id, label: one.name }));
  const chips = chipsOf(filters, names.find((one) => one.value === filters.workflow)?.label);
  return (
    <div className={classes.filters}>
      <SearchField value={filters.q} onChange={(value) => set('q', value)} />
      <fieldset className={classes.statuses} aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className={classes.status}
            aria-pressed={listed(filters.status).includes(status)}
            onClick={() => set('status', toggled(filters.status, status))}
          >
            {status}
          </button>
        ))}
      </fieldset>
      <AddFilter filters={filters} set={set} workflows={names} />
      {chips.map(({ name, text, without }) => (
        <button key={`${name} ${text}`} type="button" className={classes.chip} onClick={() => set(name, without)}>
          {text}
          <IconX size={12} aria-hidden="true" />
          <span className="visually-hidden">, take this filter away</span>
        </button>
      ))}
      {chips.length > 0 || filters.status ? (
        <button type="button" className={classes.clear} onClick={clear}>
          Clear
        </button>
      ) : null}
      <span className={classes.spacer} />
      {children}
    </div>
  );
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const change = useDebouncedCallback(onChange, 250);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      type="search"
      aria-label="Search the runs"
      placeholder="Run number or workflow"
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        change(event.currentTarget.value);
      }}
      w={210}
    />
  );
}
