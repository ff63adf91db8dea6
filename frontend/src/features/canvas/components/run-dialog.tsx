import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';

import { ApiError, sentenceOf } from '../../../api/errors';
import { keys } from '../../../api/query-keys';
import type { Workflow } from '../../../api/types';
import type { GraphDocument, JsonObject, KindsByName } from '../../../diagram';
import { isObject } from '../../../lib/json';
import { paths } from '../../../lib/paths';
import { readVersion, startRun } from '../api';
import { NO_SCOPE } from '../form/completion';
import { FieldRow } from '../form/field-row';
import formClasses from '../form/form.module.css';
import { JsonField } from '../form/inputs/code';
import { type Field, fieldsOf, withField } from '../form/schema';
import { useCanvas, useHands } from '../hands';
import { sameGraph } from '../model/difference';
import classes from './overlays.module.css';
import { usePublish } from './publish-dialog';

/** The start step's schema: what a run is given. */
export function inputSchemaOf(graph: GraphDocument, kinds: KindsByName): JsonObject {
  const start = graph.nodes.find((node) => kinds.get(node.kind)?.has_input === false);
  const schema = start?.config.input_schema;
  return isObject(schema) ? schema : {};
}

/** A run's input is plain values: no expression is evaluated in it, and a default is sent like any other value. */
const plain = (field: Field): Field => ({
  ...field,
  literal: true,
  default: undefined,
  fields: field.fields.map(plain),
});

function startValues(fields: readonly Field[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
  );
}

export function RunDialog({ workflow }: { workflow: Workflow }) {
  const { ws, ui } = useHands();
  const live = workflow.live_version;
  const draft = useCanvas((state) => state.document);
  const canEdit = useCanvas((state) => state.canEdit);
  const version = useQuery({
    queryKey: [...keys.versions(ws, workflow.id), live],
    queryFn: ({ signal }) => readVersion(ws, workflow.id, live ?? 0, { signal }),
    enabled: live !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const published = version.data?.graph;
  const differs = live === null || (published !== undefined && !sameGraph(published, draft));
  const close = () => ui.getState().set({ dialog: null });
  return (
    <Modal opened onClose={close} title={`Run ${workflow.name}`} size={520}>
      {version.isError ? <p className={classes.failure}>{sentenceOf(version.error)}</p> : null}
      {live !== null && version.isPending ? (
        <p className={classes.soft}>Reading version {live}…</p>
      ) : (
        <RunForm
          workflow={workflow}
          graph={published ?? draft}
          differs={differs}
          canPublish={canEdit}
          onClose={close}
        />
      )}
    </Modal>
  );
}

interface FormProps {
  workflow: Workflow;
  graph: GraphDocument;
  differs: boolean;
  canPublish: boolean;
  onClose: () => void;
}

function useStart(workflow: Workflow) {
  const { ws } = useHands();
  const client = useQueryClient();
  const navigate = useNavigate();
  const publish = usePublish(workflow);
  // One key for this dialog: a second press, or a reply that got lost, never starts a second run.
  const [key] = useState(() => crypto.randomUUID());
  return useMutation({
    mutationFn: async ({ input, fromDraft }: { input: JsonObject; fromDraft: boolean }) => {
      const version = fromDraft ? (await publish.mutateAsync('')).number : workflow.live_version;
      return startRun(ws, workflow.id, { input, idempotency_key: key, ...(version === null ? {} : { version }) });
    },
    onSuccess: async (run) => {
      await client.invalidateQueries({ queryKey: keys.runs(ws) });
      void navigate(paths.run(ws, run.id));
    },
  });
}

function RunForm({ workflow, graph, differs, canPublish, onClose }: FormProps) {
  const { kinds } = useHands();
  const draft = useCanvas((state) => state.document);
  const [fromDraft, setFromDraft] = useState(workflow.live_version === null);
  const schema = inputSchemaOf(fromDraft ? draft : graph, kinds);
  const fields = fieldsOf(schema).map(plain);
  const [input, setInput] = useState<JsonObject>(() => startValues(fieldsOf(schema)));
  const start = useStart(workflow);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []); // the form may come after the dialog has given the keyboard away
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    start.mutate({ input, fromDraft });
  };
  return (
    <form className={classes.stack} onSubmit={submit}>
      {differs ? (
        <WhichVersion
          live={workflow.live_version}
          fromDraft={fromDraft}
          canPublish={canPublish}
          onChange={setFromDraft}
        />
      ) : null}
      <InputFields fields={fields} input={input} error={start.error} onChange={setInput} />
      {start.isError ? <p className={classes.failure}>{sentenceOf(start.error)}</p> : null}
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button type="submit" loading={start.isPending} disabled={fromDraft && !canPublish} ref={button} data-autofocus>
          {fromDraft ? 'Publish and run' : `Run version ${workflow.live_version}`}
        </Button>
      </div>
    </form>
  );
}

interface WhichProps {
  live: number | null;
  fromDraft: boolean;
  canPublish: boolean;
  onChange: (fromDraft: boolean) => void;
}

function WhichVersion({ live, fromDraft, canPublish, onChange }: WhichProps) {
  if (live === null) {
    return (
      <p className={classes.soft}>
        {canPublish
          ? 'It was never published. It is published first, so that the run has a version to stay on.'
          : 'It was never published. An editor can publish it.'}
      </p>
    );
  }
  return (
    <p className={classes.soft}>
      {fromDraft
        ? `The draft becomes version ${live + 1} first. `
        : `The draft has changes that version ${live} does not have. `}
      {canPublish ? (
        <Button variant="subtle" size="compact-xs" onClick={() => onChange(!fromDraft)}>
          {fromDraft ? `Run version ${live} instead` : 'Publish them and run'}
        </Button>
      ) : null}
    </p>
  );
}

interface InputProps {
  fields: readonly Field[];
  input: JsonObject;
  error: unknown;
  onChange: (input: JsonObject) => void;
}

const ANYTHING: Field = {
  ...(fieldsOf({
    properties: { input: { title: 'Input', description: 'Any JSON. Reads as run.input.' } },
  })[0] as Field),
  literal: true,
};

function InputFields({ fields, input, error, onChange }: InputProps) {
  const wrong = error instanceof ApiError ? error.fields : [];
  if (fields.length === 0) {
    return (
      <div>
        <JsonField
          field={ANYTHING}
          value={Object.keys(input).length === 0 ? undefined : input}
          onChange={(value) => onChange(isObject(value) ? value : {})}
          scope={NO_SCOPE}
          readOnly={false}
          invalid={false}
        />
        <p className={classes.soft}>
          The start step asks for nothing in particular. Leave it empty, or give a JSON object.
        </p>
      </div>
    );
  }
  return (
    <div className={formClasses.form}>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          value={input[field.name]}
          scope={NO_SCOPE}
          readOnly={false}
          problems={wrong
            .filter((one) => one.field.replace(/^input[.[]?/, '') === field.name)
            .map((one) => ({ code: 'input', severity: 'error', message: one.message }))}
          onChange={(value) => onChange(withField(input, field, value))}
        />
      ))}
    </div>
  );
}
