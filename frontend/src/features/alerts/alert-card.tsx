import { ActionIcon, Button, Menu, Switch } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconDots, IconPencil, IconSend, IconTrash } from '@tabler/icons-react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import classes from './alerts.module.css';
import type { Alert } from './api';
import { DeliveryRow } from './delivery-row';
import { useAlertActs } from './use-alerts';
import { eventsOf, quietOf, targetOf } from './words';

interface CardProps {
  alert: Alert;
  /** Whether the viewer's role may change it. */
  may: boolean;
  onEdit: () => void;
  onDeliveries: () => void;
}

/** An alert with its last deliveries. */
export function AlertCard({ alert, may, onEdit, onDeliveries }: CardProps) {
  const ws = useWorkspace();
  const { enable, test } = useAlertActs(alert);
  return (
    <li className={classes.card} data-off={!alert.enabled || undefined} aria-label={alert.name}>
      <div className={classes.head}>
        <div className={classes.about}>
          <h2>{alert.name}</h2>
          <p>
            {alert.workflow ? (
              <Link to={paths.workflow(ws, alert.workflow.id)}>{alert.workflow.name}</Link>
            ) : (
              'Any workflow'
            )}
            : {eventsOf(alert)}
          </p>
          <p className={classes.soft}>
            {targetOf(alert)}
            {alert.channel === 'mail' && alert.connection ? ` by ${alert.connection}` : ''}
            {alert.quiet_s > 0 ? `, then quiet for ${quietOf(alert.quiet_s)}` : ''}
          </p>
        </div>
        {may ? (
          <div className={classes.acts}>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconSend size={14} />}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              Send a test
            </Button>
            <Switch
              aria-label={`Alert '${alert.name}' is on`}
              checked={alert.enabled}
              disabled={enable.isPending}
              onChange={(event) => enable.mutate(event.currentTarget.checked)}
            />
            <More alert={alert} onEdit={onEdit} />
          </div>
        ) : (
          <span className={classes.soft}>{alert.enabled ? 'on' : 'off'}</span>
        )}
      </div>
      <Latest alert={alert} onDeliveries={onDeliveries} />
    </li>
  );
}

function More({ alert, onEdit }: Pick<CardProps, 'alert' | 'onEdit'>) {
  const { remove } = useAlertActs(alert);
  const ask = () =>
    modals.openConfirmModal({
      title: `Delete '${alert.name}'?`,
      children: 'Nobody is told by it any more, and the list of its deliveries goes with it.',
      labels: { confirm: 'Delete the alert', cancel: 'Keep it' },
      confirmProps: { color: 'red' },
      onConfirm: () => remove.mutate(),
    });
  return (
    <Menu position="bottom-end" width={160}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`More for '${alert.name}'`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={14} />} onClick={onEdit}>
          Change
        </Menu.Item>
        <Menu.Item leftSection={<IconTrash size={14} />} color="red" onClick={ask}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const SHOWN = 3;

function Latest({ alert, onDeliveries }: Pick<CardProps, 'alert' | 'onDeliveries'>) {
  const untold = alert.untold > 0 ? `${formatCount(alert.untold, 'thing')} will be told with the next delivery.` : '';
  if (alert.deliveries.length === 0)
    return <p className={classes.none}>{untold || 'It has told nobody of anything yet.'}</p>;
  return (
    <div className={classes.latest}>
      <ul aria-label="Last deliveries">
        {alert.deliveries.slice(0, SHOWN).map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {untold ? <p className={classes.soft}>{untold}</p> : null}
      {alert.deliveries.length > SHOWN ? (
        <button type="button" className={classes.link} onClick={onDeliveries}>
          All deliveries of the last 30 days
        </button>
      ) : null}
    </div>
  );
}
