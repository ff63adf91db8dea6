import { Button, Popover, Select, TagsInput, TextInput } from '@mantine/core';
import { IconFilterPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { listLabels } from '../../api/lists';
import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { listMembers } from '../../api/workspace-calls';
import { type FilterName, type Filters, listed, readSeconds, SPANS, TRIGGERS } from './filters';
import classes from './runs.module.css';

interface Option {
  value: string;
  label: string;
}

interface Props {
  filters: Filters;
  set: (name: FilterName, value: string) => void;
  workflows: Option[];
}

const SPAN_OPTIONS = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));
const TRIGGER_OPTIONS = Object.entries(TRIGGERS).map(([value, label]) => ({ value, label }));
const WAITS = [
  { value: 'person', label: 'for a person' },
  { value: 'nobody', label: 'for nobody' },
];
/** A list in a popover must not leave it, or a click in it would close the popover. */
const INSIDE = { withinPortal: false } as const;

/** Every filter, each with the others. What is set here stands beside as a chip. */
export function AddFilter({ filters, set, workflows }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withinPortal width={520}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconFilterPlus size={15} />}
          aria-haspopup="dialog"
          onClick={() => setOpen(!isOpen)}
        >
          Filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Filters">
        {isOpen ? <FilterForm filters={filters} set={set} workflows={workflows} /> : null}
      </Popover.Dropdown>
    </Popover>
  );
}

function FilterForm({ filters, set, workflows }: Props) {
  const ws = useWorkspace();
  const labels = useQuery({ queryKey: keys.labels(ws), queryFn: ({ signal }) => listLabels(ws, { signal }) });
  const members = useQuery({ queryKey: keys.members(ws), queryFn: ({ signal }) => listMembers(ws, { signal }) });
  const people = [...new Set((members.data?.items ?? []).map((one) => one.name || one.email))];
  const choice = (name: FilterName, label: string, data: Option[] | string[]) => (
    <Select
      label={label}
      placeholder="any"
      data={data}
      value={filters[name] || null}
      onChange={(value) => set(name, value ?? '')}
      searchable
      openOnFocus={false}
      clearable
      comboboxProps={INSIDE}
    />
  );
  const text = (name: FilterName, label: string, placeholder: string) => (
    <Typed
      key={name}
      label={label}
      placeholder={placeholder}
      value={filters[name]}
      onSet={(value) => set(name, value)}
    />
  );
  return (
    <div className={classes.filterForm}>
      {choice('workflow', 'Workflow', workflows)}
      {text('version', 'Version', 'a number')}
      {choice('starter', 'Started by', people)}
      {choice('trigger', 'Started how', TRIGGER_OPTIONS)}
      {choice('within', 'Started', SPAN_OPTIONS)}
      <div className={classes.twoFields}>
        <Day label="Since" value={filters.after} onSet={(value) => set('after', value)} />
        <Day label="Before" value={filters.before} onSet={(value) => set('before', value)} />
      </div>
      <div className={classes.twoFields}>
        <Seconds label="Longer than" value={filters.longer} onSet={(value) => set('longer', value)} />
        <Seconds label="Shorter than" value={filters.shorter} onSet={(value) => set('shorter', value)} />
      </div>
      {choice('waits', 'Waits', WAITS)}
      {text('step', 'Failed at step', 'its key, as compliance')}
      {text('error', 'Error', 'a part of its message')}
      <TagsInput
        className={classes.wide}
        label="Labels"
        size="xs"
        placeholder={filters.label ? '' : 'all of these'}
        data={labels.data?.items ?? []}
        value={listed(filters.label)}
        onChange={(value) => set('label', value.join(','))}
        comboboxProps={INSIDE}
      />
    </div>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onSet: (value: string) => void;
  placeholder?: string;
}

/** Filters when the person is done: on Enter or when they leave the field. */
function Typed({ label, value, onSet, placeholder }: FieldProps) {
  const [text, setText] = useState(value);
  const done = () => {
    if (text.trim() !== value) onSet(text.trim());
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder ?? ''}
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => (event.key === 'Enter' ? done() : undefined)}
    />
  );
}

function Day({ label, value, onSet }: FieldProps) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value.slice(0, 10)}
      onChange={(event) => onSet(event.currentTarget.value)}
    />
  );
}

/** 90 s, 15 m, 2 h. */
function Seconds({ label, value, onSet }: FieldProps) {
  const [text, setText] = useState(value ? `${value} s` : '');
  const seconds = readSeconds(text);
  const isWrong = text.trim() !== '' && seconds === null;
  const done = () => {
    if (!isWrong) onSet(seconds === null ? '' : String(seconds));
  };
  return (
    <TextInput
      label={label}
      placeholder="90 s, 15 m, 2 h"
      value={text}
      error={isWrong ? 'As 90 s, 15 m or 2 h' : null}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => (event.key === 'Enter' ? done() : undefined)}
    />
  );
}
