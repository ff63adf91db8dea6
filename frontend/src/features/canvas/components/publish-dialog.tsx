import { Button, Modal, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { ApiError, sentenceOf } from '../../../api/errors';
import { keys } from '../../../api/query-keys';
import type { Workflow } from '../../../api/types';
import { type Problem, publishDraft, type Version } from '../api';
import { useCanvas, useHands } from '../hands';
import { errorsOf } from '../problems';
import { DoctorReport, hasDoubts, useDoctor } from './doctor';
import classes from './overlays.module.css';
import { ProblemRows } from './problems-list';

/** Saves what is unsaved, then publishes exactly that revision. */
export function usePublish(workflow: Workflow) {
  const { ws, store, autosave } = useHands();
  const client = useQueryClient();
  return useMutation<Version, unknown, string>({
    mutationFn: async (note) => {
      if (!(await autosave.flush())) {
        throw new ApiError({
          code: 'unsaved',
          status: 0,
          detail: 'The draft could not be saved, so it was not published.',
        });
      }
      return publishDraft(ws, workflow.id, { revision: store.getState().save.revision, note });
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.workflow(ws, workflow.id), exact: true });
      await client.invalidateQueries({ queryKey: keys.workflows(ws), exact: true });
    },
    onError: (error) => {
      const problems = error instanceof ApiError ? error.data.problems : undefined;
      if (Array.isArray(problems)) store.getState().setProblems(problems as Problem[]);
    },
  });
}

export function PublishDialog({ workflow }: { workflow: Workflow }) {
  const { ui } = useHands();
  const problems = useCanvas((state) => state.problems);
  const isEmpty = useCanvas((state) => state.document.nodes.length === 0);
  const [note, setNote] = useState('');
  const publish = usePublish(workflow);
  const doctor = useDoctor(workflow.id);
  const errors = errorsOf(problems);
  const next = (workflow.live_version ?? 0) + 1;
  const close = () => ui.getState().set({ dialog: null });
  const submit = async (event: React.FormEvent) => {
    event.preventDefault();
    const version = await publish.mutateAsync(note).catch(() => null);
    if (!version) return;
    close();
    notifications.show({
      color: 'green',
      title: `Version ${version.number} is live`,
      message: 'New runs use it. Runs that have begun stay on theirs.',
    });
  };
  return (
    <Modal opened onClose={close} title={errors.length > 0 ? 'Mend these first' : `Publish version ${next}`} size={680}>
      <form className={classes.stack} onSubmit={(event) => void submit(event)}>
        {errors.length > 0 ? (
          <div className={classes.list}>
            <ProblemRows problems={errors} onGo={close} />
          </div>
        ) : (
          <p className={classes.soft}>A version never changes. New runs use it; runs that have begun stay on theirs.</p>
        )}
        {errors.length === 0 && !isEmpty ? <DoctorReport query={doctor} onGo={close} /> : null}
        {publish.isError && errors.length === 0 ? <p className={classes.failure}>{sentenceOf(publish.error)}</p> : null}
        {isEmpty ? <p className={classes.failure}>There is nothing to publish yet. Add a step first.</p> : null}
        {errors.length === 0 ? (
          <Textarea
            label="What changed"
            placeholder="For the people who read the list of versions"
            autosize
            minRows={2}
            maxLength={500}
            data-autofocus
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
        ) : null}
        <div className={classes.buttons}>
          <Button variant="default" onClick={close}>
            Close
          </Button>
          {errors.length === 0 ? (
            <Button type="submit" loading={publish.isPending} disabled={isEmpty}>
              Publish version {next}
              {hasDoubts(doctor.data) ? ' all the same' : ''}
            </Button>
          ) : null}
        </div>
      </form>
    </Modal>
  );
}
