import { Loader } from '@mantine/core';
import { IconAlertTriangle, IconCloudCheck, IconCloudOff, IconCloudUp, IconEye } from '@tabler/icons-react';

import { useCanvas, useHands } from '../hands';
import type { SaveState } from '../model/saving';
import classes from './editor.module.css';

interface Look {
  words: string;
  title: string;
  icon: React.ReactNode;
  tone?: 'warning' | 'error';
}

const SIZE = 15;

function lookOf(save: SaveState): Look {
  switch (save.kind) {
    case 'saved':
      return { words: 'Saved', title: 'Every change is on the server.', icon: <IconCloudCheck size={SIZE} /> };
    case 'waiting':
      return { words: 'Unsaved', title: 'Saved as soon as you pause.', icon: <IconCloudUp size={SIZE} /> };
    case 'saving':
      return { words: 'Saving…', title: 'On its way to the server.', icon: <Loader size={12} /> };
    case 'offline':
      return {
        words: 'Offline, kept here',
        title: 'Pawl does not answer. Your changes are kept in this browser and sent as soon as it does.',
        icon: <IconCloudOff size={SIZE} />,
        tone: 'warning',
      };
    case 'refused':
      return {
        words: `Not saved: ${save.reason}`,
        title: save.reason,
        icon: <IconAlertTriangle size={SIZE} />,
        tone: 'error',
      };
    case 'conflict':
      return {
        words: 'Conflict',
        title: 'Somebody else changed this draft.',
        icon: <IconAlertTriangle size={SIZE} />,
        tone: 'error',
      };
  }
}

/** The true state of the draft's safety, never a guess. */
export function SaveBadge() {
  const { autosave } = useHands();
  const save = useCanvas((state) => state.save);
  const canEdit = useCanvas((state) => state.canEdit);
  if (!canEdit) {
    return (
      <span className={classes.save} title="Your role in this workspace does not edit.">
        <IconEye size={SIZE} /> Read only
      </span>
    );
  }
  const { words, title, icon, tone } = lookOf(save);
  return (
    <output className={classes.save} data-tone={tone} data-testid="save-state" title={title}>
      {icon}
      {words}
      {save.kind === 'offline' ? (
        <button type="button" onClick={() => autosave.hurry()}>
          Try now
        </button>
      ) : null}
    </output>
  );
}
