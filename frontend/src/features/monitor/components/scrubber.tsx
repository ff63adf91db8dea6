import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconHistory } from '@tabler/icons-react';

import { useShortcuts } from '../../../components/ui/shortcuts';
import { formatClock, formatDuration } from '../../../lib/format';
import type { Past } from '../past';
import { useIsPast, useRunState } from '../store';
import { nameOf } from '../summary';
import { useHistory } from '../use-history';
import classes from './scrubber.module.css';

/** A run's log as a line that one can go back on. At its end is now. */
export function Scrubber({ past }: { past: Past }) {
  const { at, last } = past;
  useShortcuts('Time', [
    { key: ',', label: 'One event back', act: () => past.step(-1) },
    { key: '.', label: 'One event on', act: () => at !== null && past.step(1) },
    { key: 'l', label: 'Back to now', act: past.leave },
  ]);
  return (
    <div className={classes.bar} data-past={at !== null || undefined}>
      <Tooltip label="One event back (,)">
        <ActionIcon aria-label="One event back" disabled={(at ?? last) <= 1} onClick={() => past.step(-1)}>
          <IconChevronLeft size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="One event on (.)">
        <ActionIcon aria-label="One event on" disabled={at === null} onClick={() => past.step(1)}>
          <IconChevronRight size={16} />
        </ActionIcon>
      </Tooltip>
      <input
        type="range"
        className={classes.range}
        min={1}
        max={Math.max(1, last)}
        value={at ?? Math.max(1, last)}
        onChange={(event) => past.go(Number(event.currentTarget.value))}
        aria-label="Time in the run"
        aria-valuetext={at === null ? `now, after event ${last}` : `after event ${at} of ${last}`}
      />
      <span className={classes.where}>{at === null ? `now · ${last} events` : `event ${at} of ${last}`}</span>
    </div>
  );
}

/** Says that what is on the screen is over, and leads back. */
export function PastBanner({ past }: { past: Past }) {
  const isShown = useIsPast();
  if (past.at === null) return null;
  return (
    <section className={classes.banner} aria-label="The past is shown" aria-live="polite">
      <IconHistory size={17} aria-hidden="true" />
      {past.problem ? <span>{past.problem}</span> : isShown ? <Moment /> : <span>Reading the log…</span>}
      <Button size="xs" className={classes.back} onClick={past.leave}>
        Back to now (L)
      </Button>
    </section>
  );
}

function Moment() {
  const { events } = useHistory();
  const state = useRunState((run) => run);
  const event = events[state.seq - 1];
  if (!event) return null;
  const since = formatDuration(Date.parse(event.at) - Date.parse(state.run.started_at));
  const what = event.path ? `${nameOf(state.graph, event.path)}: ${event.type.replace('step.', '')}` : event.type;
  return (
    <span>
      <strong>This is the past:</strong> the run as it was at {formatClock(event.at)}, {since} in, after event{' '}
      {event.seq} ({what}). Nothing can be done here.
    </span>
  );
}
