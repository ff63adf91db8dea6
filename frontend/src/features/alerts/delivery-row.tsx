import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import classes from './alerts.module.css';
import type { Delivery } from './api';
import { toldBy } from './words';

const ICONS = { sent: IconCheck, waiting: IconClock, failed: IconAlertTriangle };
const WORDS = { sent: 'Sent', waiting: 'On its way', failed: 'Not sent' };

/** What was told, whether it was taken, and why not. */
export function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const ws = useWorkspace();
  const Icon = ICONS[delivery.status];
  const run = delivery.fact_count === 1 ? delivery.facts[0]?.run : null;
  return (
    <li className={classes.delivery} data-status={delivery.status}>
      <span className={classes.status}>
        <Icon size={14} aria-hidden="true" /> {WORDS[delivery.status]}
      </span>
      <span className={classes.told}>
        {run ? <Link to={paths.run(ws, run)}>{toldBy(delivery)}</Link> : toldBy(delivery)}
        {delivery.error ? (
          <span className={classes.error}>
            {delivery.error}
            {delivery.next_at ? (
              <>
                {' '}
                Tried again <TimeAgo at={delivery.next_at} />.
              </>
            ) : null}
          </span>
        ) : null}
      </span>
      <span className={classes.soft}>
        <TimeAgo at={delivery.sent_at ?? delivery.created_at} />
      </span>
    </li>
  );
}
