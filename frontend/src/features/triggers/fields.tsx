import { Checkbox, Group, JsonInput, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';

import { sentenceOf } from '../../api/errors';
import type { Workflow } from '../../api/types';
import type { Form } from './draft';
import classes from './triggers.module.css';
import { usePreview } from './use-triggers';
import { MISFIRES, OVERLAPS, SECURITIES, timeOf } from './words';

interface FieldsProps {
  form: Form;
  set: (changes: Partial<Form>) => void;
  problemOf: (field: string) => string | undefined;
  inputProblem: string | undefined;
}

const choices = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
const PAUSE_MS = 300;

export function ScheduleFields({ form, set, problemOf, inputProblem }: FieldsProps) {
  return (
    <>
      <TextInput
        label="When"
        description="Five fields of cron: minute, hour, day, month, day of the week."
        value={form.cron}
        required
        error={problemOf('settings.cron')}
        onChange={(event) => set({ cron: event.currentTarget.value })}
      />
      <Select
        label="Time zone"
        data={ZONES}
        searchable
        limit={50}
        allowDeselect={false}
        value={form.zone}
        error={problemOf('settings.zone')}
        onChange={(value) => set({ zone: value ?? 'UTC' })}
      />
      <NextTimes cron={form.cron} zone={form.zone} />
      <Select
        label="While an earlier run of it is open"
        data={choices(OVERLAPS)}
        value={form.overlap}
        allowDeselect={false}
        onChange={(value) => set({ overlap: value ?? 'queue' })}
      />
      <Select
        label="When nobody was there at its time"
        data={choices(MISFIRES)}
        value={form.misfire}
        allowDeselect={false}
        onChange={(value) => set({ misfire: value ?? 'run_once' })}
      />
      <InputField form={form} set={set} problem={inputProblem} hint="JSON that each run starts with. Empty: null." />
    </>
  );
}

function NextTimes({ cron, zone }: { cron: string; zone: string }) {
  const [asked] = useDebouncedValue(cron, PAUSE_MS);
  const preview = usePreview(asked, zone);
  if (preview.isError) return <p className={classes.times}>{sentenceOf(preview.error)}</p>;
  return (
    <ul className={classes.times} aria-label="The next times">
      {(preview.data?.items ?? []).map((one) => (
        <li key={one.at}>{timeOf(one)}</li>
      ))}
    </ul>
  );
}

interface InputProps {
  form: Form;
  set: (changes: Partial<Form>) => void;
  problem: string | undefined;
  hint: string;
}

function InputField({ form, set, problem, hint }: InputProps) {
  return (
    <JsonInput
      label="Input"
      description={hint}
      value={form.input}
      autosize
      minRows={2}
      maxRows={12}
      error={problem}
      onChange={(input) => set({ input })}
    />
  );
}

const ANSWERS = {
  at_once: 'at once, with the number of the run',
  when_done: "when the run is done, with the run's output",
};

export function WebhookFields({ form, set }: FieldsProps) {
  return (
    <>
      <Select
        label="What a sender must show"
        data={choices(SECURITIES)}
        value={form.security}
        allowDeselect={false}
        onChange={(value) => set({ security: value ?? 'hmac' })}
      />
      <Select
        label="Senders are answered"
        data={choices(ANSWERS)}
        value={form.answer}
        allowDeselect={false}
        onChange={(value) => set({ answer: value ?? 'at_once' })}
      />
    </>
  );
}

const ENDS = ['succeeded', 'failed', 'cancelled'];

export function RunEndFields({
  form,
  set,
  problemOf,
  inputProblem,
  others,
}: FieldsProps & { others: readonly Workflow[] }) {
  return (
    <>
      <Select
        label="The workflow whose runs end"
        data={others.map((one) => ({ value: one.id, label: one.name }))}
        searchable
        required
        value={form.source || null}
        error={problemOf('settings.source')}
        onChange={(value) => set({ source: value ?? '' })}
      />
      <Checkbox.Group
        label="Which ends"
        value={form.on}
        error={problemOf('settings.on')}
        onChange={(on) => set({ on })}
      >
        <Group gap={16} mt={4}>
          {ENDS.map((end) => (
            <Checkbox key={end} value={end} label={end} />
          ))}
        </Group>
      </Checkbox.Group>
      <InputField
        form={form}
        set={set}
        problem={inputProblem}
        hint='JSON with paths such as "{{ run.output.total }}". Empty: which run ended, and what it answered.'
      />
    </>
  );
}
