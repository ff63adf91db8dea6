import { Button, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { sentenceOf } from '../../api/errors';
import type { Workflow } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { paths } from '../../lib/paths';
import classes from './library.module.css';
import { useChangeWorkflow, useCreateWorkflow } from './use-workflows';

interface Props {
  /** null makes a new one. */
  workflow: Workflow | null;
  onClose: () => void;
}

export function NameDialog({ workflow, onClose }: Props) {
  const ws = useWorkspace();
  const navigate = useNavigate();
  const create = useCreateWorkflow();
  const change = useChangeWorkflow();
  const [name, setName] = useState(workflow?.name ?? '');
  const trimmed = name.trim();
  const active = workflow ? change : create;
  const submit = async (event: React.FormEvent) => {
    event.preventDefault();
    if (!trimmed) return;
    if (workflow) {
      const done = await change.mutateAsync({ id: workflow.id, name: trimmed }).catch(() => null);
      if (done) onClose();
      return;
    }
    const made = await create.mutateAsync(trimmed).catch(() => null);
    if (made) void navigate(paths.workflow(ws, made.id));
  };
  return (
    <Modal opened onClose={onClose} title={workflow ? 'Rename the workflow' : 'New workflow'} size={420}>
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <TextInput
          label="Name"
          placeholder="for instance Supplier invoices"
          data-autofocus
          required
          maxLength={200}
          value={name}
          error={active.isError ? sentenceOf(active.error) : null}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" disabled={!trimmed} loading={active.isPending}>
            {workflow ? 'Rename' : 'Create and draw'}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
