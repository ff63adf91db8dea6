import { ActionIcon, Menu, Switch, Text, Tooltip } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconDots } from '@tabler/icons-react';

import { CopyButton } from '../../components/ui/copy-button';
import { TimeAgo } from '../../components/ui/time';
import type { Trigger } from './api';
import classes from './triggers.module.css';
import { useChangeTrigger } from './use-triggers';
import { KINDS, timeOf, whatOf } from './words';

interface RowProps {
  trigger: Trigger;
  may: boolean;
  nameOf: (workflow: string) => string;
  onRead: () => void;
}

export function TriggerRow({ trigger, may, nameOf, onRead }: RowProps) {
  const { enable, remove } = useChangeTrigger(trigger);
  const last = trigger.last_firing;
  return (
    <tr>
      <td>
        <strong>{trigger.name}</strong>
      </td>
      <td>{KINDS[trigger.kind]}</td>
      <td>
        <span className={classes.once}>
          <code>{whatOf(trigger, nameOf)}</code>
          {trigger.path ? (
            <CopyButton
              text={`${window.location.origin}${trigger.path}`}
              label={`Copy the address of ${trigger.name}`}
            />
          ) : null}
        </span>
      </td>
      <td>
        <Next trigger={trigger} />
      </td>
      <td>
        {last ? (
          <span>
            {last.status} <TimeAgo at={last.due_at} />
          </span>
        ) : (
          'not yet'
        )}
      </td>
      <td>
        <Switch
          aria-label={`${trigger.name} is enabled`}
          checked={trigger.enabled}
          disabled={!may || enable.isPending}
          onChange={(event) => enable.mutate(event.currentTarget.checked)}
        />
      </td>
      <td className={classes.menu}>
        <RowMenu name={trigger.name} may={may} onRead={onRead} onDelete={() => remove.mutate()} />
      </td>
    </tr>
  );
}

function Next({ trigger }: { trigger: Trigger }) {
  const first = trigger.upcoming[0];
  if (!first) return <span className={classes.soft}>–</span>;
  const all = trigger.upcoming.map((one) => <div key={one.at}>{timeOf(one)}</div>);
  return (
    <Tooltip label={all} events={{ hover: true, focus: true, touch: true }}>
      <span className={classes.soft}>{timeOf(first)}</span>
    </Tooltip>
  );
}

interface MenuProps {
  name: string;
  may: boolean;
  onRead: () => void;
  onDelete: () => void;
}

function RowMenu({ name, may, onRead, onDelete }: MenuProps) {
  const ask = () =>
    modals.openConfirmModal({
      title: `Delete '${name}'?`,
      children: <Text size="sm">It starts nothing any more, and its ledger goes with it. Its runs stay.</Text>,
      labels: { confirm: 'Delete the trigger', cancel: 'Keep it' },
      confirmProps: { color: 'red' },
      onConfirm: onDelete,
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`More about ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onRead}>Ledger</Menu.Item>
        {may ? (
          <Menu.Item color="red" onClick={ask}>
            Delete
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
