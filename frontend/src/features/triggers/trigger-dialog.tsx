import { Alert, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';

import { ApiError, sentenceOf } from '../../api/errors';
import type { Workflow } from '../../api/types';
import { notifyDone } from '../../components/ui/notify';
import type { MadeTrigger, TriggerKind } from './api';
import { draftOf, emptyForm, type Form, isSecret, problemAt } from './draft';
import { RunEndFields, ScheduleFields, WebhookFields } from './fields';
import { SecretOnce } from './secret-once';
import { useCreateTrigger } from './use-triggers';
import { KINDS } from './words';

interface DialogProps {
  workflow: string;
  others: readonly Workflow[];
  onClose: () => void;
}

/** Makes a trigger. What a webhook's senders need is shown once, before the dialog closes. */
export function TriggerDialog({ workflow, others, onClose }: DialogProps) {
  const [made, setMade] = useState<MadeTrigger | null>(null);
  const done = (trigger: MadeTrigger) => {
    notifyDone(`'${trigger.name}' starts runs from now on.`);
    if (isSecret(trigger)) setMade(trigger);
    else onClose();
  };
  return (
    <Modal opened onClose={onClose} title={made ? `Webhook '${made.name}'` : 'New trigger'} size={560}>
      {made && isSecret(made) ? (
        <SecretOnce path={made.path} secret={made.secret} onClose={onClose} />
      ) : (
        <TriggerForm workflow={workflow} others={others} onClose={onClose} onMade={done} />
      )}
    </Modal>
  );
}

interface FormProps extends DialogProps {
  onMade: (trigger: MadeTrigger) => void;
}

const KIND_CHOICES = Object.entries(KINDS).map(([value, label]) => ({ value, label }));

function TriggerForm({ workflow, others, onClose, onMade }: FormProps) {
  const [form, setForm] = useState(() => emptyForm(Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'));
  const create = useCreateTrigger(workflow);
  const read = draftOf(form);
  const set = (changes: Partial<Form>) => setForm((before) => ({ ...before, ...changes }));
  const problems = create.error instanceof ApiError ? create.error.fields : [];
  const problemOf = (field: string) => problemAt(problems, field);
  const inputProblem = 'problem' in read ? read.problem : (problemOf('settings.input') ?? problemOf('input'));
  const shared = { form, set, problemOf, inputProblem };
  const isReady = form.name.trim() !== '' && 'draft' in read && (form.kind !== 'run_end' || form.source !== '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if ('draft' in read) create.mutate(read.draft, { onSuccess: onMade });
      }}
    >
      <Stack gap={12}>
        <Select
          label="What starts the run"
          data={KIND_CHOICES}
          value={form.kind}
          allowDeselect={false}
          onChange={(value) => set({ kind: (value ?? 'schedule') as TriggerKind, input: '' })}
        />
        <TextInput
          label="Name"
          description="Runs that it starts carry it."
          value={form.name}
          required
          maxLength={100}
          data-autofocus
          error={problemOf('name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        {form.kind === 'schedule' ? <ScheduleFields {...shared} /> : null}
        {form.kind === 'webhook' ? <WebhookFields {...shared} /> : null}
        {form.kind === 'run_end' ? <RunEndFields {...shared} others={others} /> : null}
        {create.error ? <Alert color="red">{sentenceOf(create.error)}</Alert> : null}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!isReady}>
            Add the trigger
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
