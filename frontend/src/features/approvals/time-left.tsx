import { IconClock } from '@tabler/icons-react';

import { useNow } from '../../hooks/use-now';
import { formatDuration, formatExact } from '../../lib/format';
import classes from './inbox.module.css';

const SOON_MS = 15 * 60_000;

/** How long a question can still be answered; it counts down. Nothing where it has no deadline. */
export function TimeLeft({ until }: { until: string | null }) {
  const now = useNow(1000, until !== null);
  if (until === null) return null;
  const left = Date.parse(until) - now;
  return (
    <span className={classes.left} data-soon={left < SOON_MS || undefined} title={`Until ${formatExact(until)}`}>
      <IconClock size={13} aria-hidden="true" />
      {left > 0 ? `${formatDuration(left)} left` : 'its time is over'}
    </span>
  );
}
