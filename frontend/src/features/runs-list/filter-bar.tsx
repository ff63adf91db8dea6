import { Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { listWorkflows } from '../../api/workspace-calls';
import { formatExact } from '../../lib/format';
import { type FilterName, type Filters, momentOf, SPANS } from './filters';
import classes from './runs.module.css';

interface FilterBarProps {
  filters: Filters;
  set: (name: FilterName, value: string) => void;
  clear: () => void;
}

const STATUSES = ['running', 'failed', 'succeeded', 'cancelled'];
const SPAN_OPTIONS = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));

/** What is filtered stands in the address; each chip takes one filter away. */
export function FilterBar({ filters, set, clear }: FilterBarProps) {
  const ws = useWorkspace();
  const workflows = useQuery({
    queryKey: keys.workflows(ws),
    queryFn: ({ signal }) => listWorkflows(ws, { signal }),
    staleTime: 30_000,
  });
  const names = (workflows.data?.items ?? []).map((one) => ({ value: one.id, label: one.name }));
  const chips: { name: FilterName; text: string }[] = [
    { name: 'workflow', text: names.find((one) => one.value === filters.workflow)?.label ?? filters.workflow },
    { name: 'within', text: SPANS[filters.within]?.label ?? '' },
    { name: 'after', text: filters.after ? `since ${formatExact(momentOf(filters.after))}` : '' },
    { name: 'before', text: filters.before ? `before ${formatExact(momentOf(filters.before))}` : '' },
    { name: 'q', text: filters.q ? `'${filters.q}'` : '' },
  ];
  const shown = chips.filter((chip) => chip.text !== '');
  return (
    <div className={classes.filters}>
      <SearchField value={filters.q} onChange={(value) => set('q', value)} />
      <fieldset className={classes.statuses} aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            className={classes.status}
            aria-pressed={filters.status === status}
            onClick={() => set('status', filters.status === status ? '' : status)}
          >
            {status}
          </button>
        ))}
      </fieldset>
      <Select
        aria-label="Workflow"
        placeholder="Any workflow"
        data={names}
        value={filters.workflow || null}
        onChange={(value) => set('workflow', value ?? '')}
        searchable
        clearable
        w={190}
      />
      <Select
        aria-label="Started"
        placeholder="Any time"
        data={SPAN_OPTIONS}
        value={filters.within || null}
        onChange={(value) => set('within', value ?? '')}
        clearable
        w={140}
      />
      {shown.map(({ name, text }) => (
        <button key={name} type="button" className={classes.chip} onClick={() => set(name, '')}>
          {text}
          <IconX size={12} aria-hidden="true" />
          <span className="visually-hidden">, take this filter away</span>
        </button>
      ))}
      {shown.length > 0 || filters.status ? (
        <button type="button" className={classes.clear} onClick={clear}>
          Clear
        </button>
      ) : null}
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
      placeholder="Run number or text"
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        change(event.currentTarget.value);
      }}
      w={200}
    />
  );
}
