import { Alert, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { ApiError, sentenceOf } from '../../api/errors';
import { keys } from '../../api/query-keys';
import type { Connection, ConnectionKind } from '../../api/types';
import { createConnection, updateConnection } from '../../api/workspace-calls';
import { notifyDone } from '../../components/ui/notify';
import type { JsonObject } from '../../lib/json';
import { type FieldSpec, readFields, SettingsField } from './schema-form';
import { KIND_TITLES } from './titles';

interface DialogProps {
  ws: string;
  kinds: readonly ConnectionKind[];
  /** The one to edit; null makes a new one. */
  connection: Connection | null;
  onClose: () => void;
}

function startValues(fields: readonly FieldSpec[], connection: Connection | null): JsonObject {
  const values: JsonObject = {};
  for (const field of fields) {
    if (field.isSecret) continue; // what is not sent stays as it is
    values[field.name] = connection?.settings[field.name] ?? field.initial ?? '';
  }
  return values;
}

function useSave({ ws, connection, onClose }: DialogProps) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string; kind: string; settings: JsonObject }) =>
      connection
        ? updateConnection(ws, connection.id, { name: body.name, settings: body.settings })
        : createConnection(ws, body),
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: keys.connections(ws) });
      notifyDone(`The connection '${saved.name}' is kept.`);
      onClose();
    },
  });
}

/** Makes or changes a connection. The form is made of the kind's schema. */
export function ConnectionDialog(props: DialogProps) {
  const { kinds, connection, onClose } = props;
  const [kind, setKind] = useState(connection?.kind ?? kinds[0]?.kind ?? '');
  const [name, setName] = useState(connection?.name ?? '');
  const shape = kinds.find((one) => one.kind === kind);
  const fields = useMemo(() => (shape ? readFields(shape.schema, shape.secret_fields) : []), [shape]);
  const [changes, setChanges] = useState<JsonObject>({});
  const values = { ...startValues(fields, connection), ...changes };
  const save = useSave(props);
  const problems = save.error instanceof ApiError ? save.error.fields : [];
  const problemOf = (field: string) => problems.find((one) => one.field === field)?.message;
  const set = (field: string, value: JsonObject[string] | undefined) =>
    setChanges((before) => {
      const next = { ...before };
      if (value === undefined) delete next[field];
      else next[field] = value;
      return next;
    });
  return (
    <Modal opened onClose={onClose} title={connection ? `Change '${connection.name}'` : 'New connection'} size={520}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ name, kind, settings: values });
        }}
      >
        <Stack gap={12}>
          {connection ? null : (
            <Select
              label="Kind"
              data={kinds.map((one) => ({ value: one.kind, label: KIND_TITLES[one.kind] ?? one.kind }))}
              value={kind}
              allowDeselect={false}
              onChange={(value) => {
                setKind(value ?? '');
                setChanges({});
              }}
            />
          )}
          <TextInput
            label="Name"
            description="Steps choose it by this name."
            value={name}
            required
            data-autofocus
            error={problemOf('name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {fields.map((field) => (
            <SettingsField
              key={`${kind}.${field.name}`}
              field={field}
              value={values[field.name]}
              error={problemOf(`settings.${field.name}`)}
              isKept={connection?.secrets.includes(field.name) ?? false}
              onChange={(value) => set(field.name, value)}
            />
          ))}
          {save.error ? <Alert color="red">{sentenceOf(save.error)}</Alert> : null}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {connection ? 'Save the connection' : 'Add the connection'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
