import { ActionIcon, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconLayoutDistributeHorizontal,
  IconMap,
  IconMaximize,
  IconMinus,
  IconPlus,
} from '@tabler/icons-react';
import { Panel, useStore } from '@xyflow/react';

import { commandOf } from '../commands';
import { useCanvas, useHands, useUi } from '../hands';
import { printKeys } from '../keys';
import classes from './editor.module.css';

function ToolButton({
  id,
  icon: Icon,
  disabled = false,
  pressed,
}: {
  id: string;
  icon: typeof IconPlus;
  disabled?: boolean;
  pressed?: boolean;
}) {
  const hands = useHands();
  const command = commandOf(id);
  if (!command) return null;
  const keys = printKeys(command.keys[0] ?? '').join(' ');
  return (
    <Tooltip label={`${command.name} · ${keys}`}>
      <ActionIcon
        size={30}
        aria-label={command.name}
        aria-pressed={pressed}
        disabled={disabled}
        onClick={() => void command.run(hands)}
      >
        <Icon size={16} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  );
}

function Zoom() {
  const percent = useStore((state) => Math.round(state.transform[2] * 100));
  const { flow } = useHands();
  return (
    <button
      type="button"
      className={classes.zoom}
      title="Zoom to 100 %"
      onClick={() => void flow.current?.zoomTo(1, { duration: 120 })}
    >
      {percent} %
    </button>
  );
}

/** What hands reach for most, each with its key. */
export function Toolbar() {
  const canEdit = useCanvas((state) => state.canEdit);
  const canUndo = useCanvas((state) => state.history.past.length > 0);
  const canRedo = useCanvas((state) => state.history.future.length > 0);
  const showsMinimap = useUi((state) => state.showsMinimap);
  return (
    <Panel position="bottom-left" className={classes.toolbar}>
      <ToolButton id="zoom-out" icon={IconMinus} />
      <Zoom />
      <ToolButton id="zoom-in" icon={IconPlus} />
      <ToolButton id="fit" icon={IconMaximize} />
      <ToolButton id="minimap" icon={IconMap} pressed={showsMinimap} />
      {canEdit ? (
        <>
          <span className={classes.bar} />
          <ToolButton id="undo" icon={IconArrowBackUp} disabled={!canUndo} />
          <ToolButton id="redo" icon={IconArrowForwardUp} disabled={!canRedo} />
          <ToolButton id="tidy" icon={IconLayoutDistributeHorizontal} />
        </>
      ) : null}
    </Panel>
  );
}
