import { ActionIcon, Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCircleCheck, IconClockPlay, IconDots, IconPlayerPlay } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';

import { sentenceOf } from '../../../api/errors';
import { keys } from '../../../api/query-keys';
import type { Workflow } from '../../../api/types';
import { paths } from '../../../lib/paths';
import { renameWorkflow } from '../api';
import { commandOf } from '../commands';
import { useCanvas, useHands, useUi } from '../hands';
import { printKeys } from '../keys';
import { errorsOf, inWords } from '../problems';
import classes from './editor.module.css';
import { SaveBadge } from './save-badge';

/** What it is, whether it is safe, what is wrong with it, and the two things to do with it. */
export function Header({ workflow }: { workflow: Workflow }) {
  const { ui, canRun } = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  const dialog = (name: 'publish' | 'run') => () => ui.getState().set({ dialog: name });
  return (
    <header className={classes.header}>
      <Name workflow={workflow} canEdit={canEdit} />
      <LiveVersion workflow={workflow} />
      <SaveBadge />
      <span className={classes.spacer} />
      <TriggersLink workflow={workflow} />
      <ProblemsButton />
      {canRun ? (
        <Button variant="default" leftSection={<IconPlayerPlay size={14} />} onClick={dialog('run')}>
          Run
        </Button>
      ) : null}
      {canEdit ? <Button onClick={dialog('publish')}>Publish</Button> : null}
      <More />
    </header>
  );
}

function Name({ workflow, canEdit }: { workflow: Workflow; canEdit: boolean }) {
  const { ws } = useHands();
  const client = useQueryClient();
  const [name, setName] = useState(workflow.name);
  const save = async () => {
    const trimmed = name.trim();
    if (trimmed === '' || trimmed === workflow.name) return setName(workflow.name);
    try {
      await renameWorkflow(ws, workflow.id, trimmed);
      await client.invalidateQueries({ queryKey: keys.workflow(ws, workflow.id), exact: true });
      await client.invalidateQueries({ queryKey: keys.workflows(ws), exact: true });
    } catch (error) {
      setName(workflow.name);
      notifications.show({ color: 'red', title: 'The workflow keeps its name', message: sentenceOf(error) });
    }
  };
  return (
    <input
      className={classes.name}
      aria-label="Name of the workflow"
      value={name}
      readOnly={!canEdit}
      maxLength={200}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={() => void save()}
      onKeyDown={(event) => {
        if (event.key === 'Enter' || event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}

/** Leads to all versions, once there are some. */
function LiveVersion({ workflow }: { workflow: Workflow }) {
  const { ws } = useHands();
  if (workflow.live_version === null) return <span className={classes.version}>not published</span>;
  return (
    <Link className={classes.version} to={paths.versions(ws, workflow.id)} title="All versions, and what differs">
      v{workflow.live_version} is live
    </Link>
  );
}

function TriggersLink({ workflow }: { workflow: Workflow }) {
  const { ws } = useHands();
  return (
    <Button
      component={Link}
      to={paths.triggers(ws, workflow.id)}
      variant="subtle"
      color="gray"
      leftSection={<IconClockPlay size={15} />}
    >
      Triggers
    </Button>
  );
}

function ProblemsButton() {
  const { ui } = useHands();
  const problems = useCanvas((state) => state.problems);
  const isOpen = useUi((state) => state.showsProblems);
  const errors = errorsOf(problems).length;
  const warnings = problems.some((problem) => problem.severity === 'warning');
  const Icon = errors > 0 || warnings ? IconAlertTriangle : IconCircleCheck;
  const colour = errors > 0 ? 'var(--status-failed)' : warnings ? 'var(--status-retrying)' : 'var(--status-succeeded)';
  return (
    <Button
      variant="subtle"
      color="gray"
      leftSection={<Icon size={15} color={colour} />}
      aria-expanded={isOpen}
      onClick={() => ui.getState().set({ showsProblems: !isOpen })}
    >
      {inWords(problems)}
    </Button>
  );
}

const IN_MENU = ['find', 'palette', 'tidy', 'shortcuts'];

function More() {
  const hands = useHands();
  return (
    <Menu position="bottom-end" width={250}>
      <Menu.Target>
        <ActionIcon size={30} aria-label="More">
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {IN_MENU.map((id) => commandOf(id)).map((command) =>
          command ? (
            <Menu.Item
              key={command.id}
              disabled={!command.when(hands)}
              onClick={() => void command.run(hands)}
              rightSection={<span className={classes.version}>{printKeys(command.keys[0] ?? '').join(' ')}</span>}
            >
              {command.name}
            </Menu.Item>
          ) : null,
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
