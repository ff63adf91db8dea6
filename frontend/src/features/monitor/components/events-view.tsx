import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useDeferredValue, useMemo, useState } from 'react';

import type { RunEvent } from '../../../api/types';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { formatClock, formatExact } from '../../../lib/format';
import { formatJson } from '../../../lib/json';
import { useSelection } from '../selection';
import { useRunState } from '../store';
import { nameOf } from '../summary';
import { useHistory } from '../use-history';
import classes from './events-view.module.css';

const FIRST = 300;

const matches = (event: RunEvent, text: string): boolean =>
  text === '' || `${event.type} ${event.path ?? ''} ${event.actor}`.toLowerCase().includes(text);

/** The log of the run, numbered without a gap, newest first. */
export function EventsView() {
  const { events, isPending, error, retry } = useHistory();
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(FIRST);
  const text = useDeferredValue(search.trim().toLowerCase());
  const found = useMemo(() => events.filter((event) => matches(event, text)).reverse(), [events, text]);
  if (error) return <ErrorState error={error} what="the events" onRetry={retry} />;
  if (isPending) return <LoadingRows label="Loading the events" />;
  return (
    <div className={classes.view}>
      <div className={classes.bar}>
        <TextInput
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          placeholder="Filter by type, step or who"
          aria-label="Filter the events"
          leftSection={<IconSearch size={14} />}
          w={280}
        />
        <span className={classes.count}>
          {found.length} of {events.length} events
        </span>
      </div>
      <table className={classes.table} aria-label="Events of the run, newest first">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col">Step</th>
            <th scope="col">Who</th>
            <th scope="col">Data</th>
          </tr>
        </thead>
        <tbody>
          {found.slice(0, most).map((event) => (
            <Row key={event.seq} event={event} />
          ))}
        </tbody>
      </table>
      {found.length > most ? (
        <button type="button" className={classes.more} onClick={() => setMost(most + 1000)}>
          Show {Math.min(1000, found.length - most)} older events
        </button>
      ) : null}
    </div>
  );
}

function Row({ event }: { event: RunEvent }) {
  const graph = useRunState((state) => state.graph);
  const { selectStep } = useSelection();
  const { path } = event;
  const data = Object.keys(event.data).length > 0 ? formatJson(event.data) : '';
  return (
    <tr>
      <td className={classes.seq}>{event.seq}</td>
      <td className={classes.seq} title={formatExact(event.at)}>
        {formatClock(event.at)}
      </td>
      <td>
        <span className={classes.type} data-type={event.type.split('.')[1]}>
          {event.type}
        </span>
      </td>
      <td>
        {path ? (
          <button type="button" className={classes.step} onClick={() => selectStep(path)}>
            {nameOf(graph, path)}
            {event.attempt && event.attempt > 1 ? ` · attempt ${event.attempt}` : ''}
          </button>
        ) : null}
      </td>
      <td>{event.actor}</td>
      <td className={classes.data} title={data}>
        {data}
      </td>
    </tr>
  );
}
