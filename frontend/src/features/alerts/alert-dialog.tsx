import { Button, Checkbox, Group, Modal, Alert as Notice, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { ApiError, sentenceOf } from '../../api/errors';
import { keys } from '../../api/query-keys';
import type { Workflow } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { listConnections } from '../../api/workspace-calls';
import { CopyButton } from '../../components/ui/copy-button';
import { notifyDone } from '../../components/ui/notify';
import classes from './alerts.module.css';
import type { Alert, AlertDraft, AlertEvent } from './api';
import { TargetFields } from './target-fields';
import { useSaveAlert } from './use-alerts';
import { draftOf, EVENTS, emptyDraft, isReady, QUIET } from './words';

interface DialogProps {
  before: Alert | null;
  /** The workflow that the page is about; null: all. */
  workflow: string | null;
  workflows: readonly Workflow[];
  hasOwnMail: boolean;
  onClose: () => void;
}

/** Makes an alert, or changes one. A webhook's secret is shown once, before the dialog closes. */
export function AlertDialog(props: DialogProps) {
  const { before, onClose } = props;
  const ws = useWorkspace();
  const [secret, setSecret] = useState<string | null>(null);
  const connections = useQuery({
    queryKey: keys.connections(ws),
    queryFn: ({ signal }) => listConnections(ws, { signal }),
  });
  const smtp = connections.data?.items.filter((one) => one.kind === 'smtp').map((one) => one.name) ?? [];
  const title = secret ? 'Its secret' : before ? `Change '${before.name}'` : 'New alert';
  const done = (saved: Alert & { secret?: string | null }) => {
    notifyDone(before ? `'${saved.name}' is changed.` : `'${saved.name}' tells of what happens from now on.`);
    if (saved.secret) setSecret(saved.secret);
    else onClose();
  };
  if (!connections.isFetched) return null; // the form begins with a connection, and the dialog with the focus in it
  return (
    <Modal opened onClose={onClose} title={title} size={560}>
      {secret ? <Secret secret={secret} onClose={onClose} /> : <AlertForm {...props} smtp={smtp} onSaved={done} />}
    </Modal>
  );
}

interface FormProps extends DialogProps {
  smtp: readonly string[];
  onSaved: (alert: Alert & { secret?: string | null }) => void;
}

function AlertForm({ before, workflow, workflows, hasOwnMail, smtp, onClose, onSaved }: FormProps) {
  const [draft, setDraft] = useState<AlertDraft>(() =>
    before ? draftOf(before) : emptyDraft(workflow, hasOwnMail, smtp),
  );
  const save = useSaveAlert(before);
  const set = (changes: Partial<AlertDraft>) => setDraft((was) => ({ ...was, ...changes }));
  const problems = save.error instanceof ApiError ? save.error.fields : [];
  const problemOf = (name: string) => problems.find(({ field }) => field.startsWith(name))?.message;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(draft, { onSuccess: onSaved });
      }}
    >
      <Stack gap={14}>
        <TextInput
          label="Name"
          value={draft.name}
          required
          maxLength={100}
          data-autofocus
          placeholder="Tell the night shift"
          error={problemOf('name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Checkbox.Group
          label="Tell when"
          value={draft.events}
          error={problemOf('events')}
          onChange={(events) => set({ events: events as AlertEvent[] })}
        >
          <Stack gap={8} mt={6}>
            {EVENTS.map(({ name, label, hint }) => (
              <Checkbox key={name} value={name} label={label} description={hint} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Select
          label="In"
          data={[{ value: '', label: 'Any workflow' }, ...workflows.map((one) => ({ value: one.id, label: one.name }))]}
          value={draft.workflow ?? ''}
          disabled={before !== null}
          allowDeselect={false}
          searchable
          error={problemOf('workflow')}
          onChange={(value) => set({ workflow: value || null })}
        />
        <TargetFields
          draft={draft}
          set={set}
          isNew={before === null}
          hasOwnMail={hasOwnMail}
          smtp={smtp}
          problemOf={problemOf}
        />
        <Select
          label="Quiet after a message"
          description="What happens meanwhile is told together, in the next one."
          data={QUIET}
          value={String(draft.quiet_s)}
          allowDeselect={false}
          onChange={(value) => set({ quiet_s: Number(value) })}
        />
        {save.error ? <Notice color="red">{sentenceOf(save.error)}</Notice> : null}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!isReady(draft)}>
            {before ? 'Save the alert' : 'Add the alert'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Stack gap={12}>
      <Text size="sm">
        Each request is signed with it in the header X-Pawl-Signature, as Pawl's own webhooks take it.
      </Text>
      <div className={classes.once}>
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
      <Notice color="yellow">Keep it now: it is not shown again.</Notice>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have kept it</Button>
      </Group>
    </Stack>
  );
}
