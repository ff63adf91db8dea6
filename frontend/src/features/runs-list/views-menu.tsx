import { Button, Checkbox, Menu, Modal, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash, IconUsers } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';

import { sentenceOf } from '../../api/errors';
import { createView, deleteView, listViews, type SavedView } from '../../api/lists';
import { keys } from '../../api/query-keys';
import { useMay, useWorkspace } from '../../api/workspace';
import { notifyDone, notifyFailure } from '../../components/ui/notify';
import { type Filters, readFilters, writeFilters } from './filters';
import classes from './runs.module.css';

/** Filters under a name: one's own, and those that others share. */
export function ViewsMenu({ filters, isFiltered }: { filters: Filters; isFiltered: boolean }) {
  const ws = useWorkspace();
  const [, setParams] = useSearchParams();
  const [isSaving, setSaving] = useState(false);
  const views = useQuery({ queryKey: keys.views(ws), queryFn: ({ signal }) => listViews(ws, { signal }) });
  const items = views.data?.items ?? [];
  const query = writeFilters(filters);
  const present = items.find((one) => writeFilters(readFilters(new URLSearchParams(one.query))) === query && query);
  return (
    <>
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={15} />}>
            {present ? present.name : 'Views'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.isError ? <Menu.Label>The views could not be read.</Menu.Label> : null}
          {views.isSuccess && items.length === 0 ? <Menu.Label>No view is saved yet.</Menu.Label> : null}
          {items.map((one) => (
            <Menu.Item
              key={one.id}
              leftSection={one.is_shared ? <IconUsers size={14} /> : <IconBookmark size={14} />}
              onClick={() => setParams(new URLSearchParams(one.query))}
              title={one.is_mine ? undefined : `Shared by ${one.owner}`}
            >
              {one.name}
              {one.is_mine ? null : <span className={classes.version}> by {one.owner}</span>}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item disabled={!isFiltered} onClick={() => setSaving(true)}>
            Save these filters…
          </Menu.Item>
          {present?.is_mine ? <DeleteItem view={present} /> : null}
        </Menu.Dropdown>
      </Menu>
      {isSaving ? <SaveDialog query={query} onClose={() => setSaving(false)} /> : null}
    </>
  );
}

function DeleteItem({ view }: { view: SavedView }) {
  const ws = useWorkspace();
  const client = useQueryClient();
  const gone = useMutation({
    mutationFn: () => deleteView(ws, view.id),
    onSuccess: () => notifyDone(`The view '${view.name}' is deleted.`),
    onError: (error) => notifyFailure('The view was not deleted', error),
    onSettled: () => void client.invalidateQueries({ queryKey: keys.views(ws) }),
  });
  return (
    <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => gone.mutate()}>
      Delete the view '{view.name}'
    </Menu.Item>
  );
}

function SaveDialog({ query, onClose }: { query: string; onClose: () => void }) {
  const ws = useWorkspace();
  const may = useMay('run');
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const save = useMutation({
    mutationFn: () => createView(ws, { name: name.trim(), query, is_shared: isShared }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.views(ws) });
      onClose();
    },
  });
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (name.trim()) save.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Save these filters" size={400}>
      <form className={classes.form} onSubmit={submit}>
        <TextInput
          label="Name"
          placeholder="for instance Failed tonight"
          data-autofocus
          required
          maxLength={60}
          value={name}
          error={save.isError ? sentenceOf(save.error) : null}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox
          label="Everybody in the workspace sees it"
          checked={isShared}
          disabled={!may}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" disabled={!name.trim()} loading={save.isPending}>
            Save the view
          </Button>
        </div>
      </form>
    </Modal>
  );
}
