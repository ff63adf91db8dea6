import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';

import { StatusShape } from '../../../diagram';
import { formatCount, formatDuration } from '../../../lib/format';
import { lastKnown } from '../freshness';
import { shownStatus } from '../node-status';
import type { RunState } from '../reducer';
import { useSelection } from '../selection';
import { nameOf } from '../summary';
import { type Lane, positionIn, type Scale, type Segment } from '../timeline';
import classes from './timeline-view.module.css';

interface RowProps {
  lane: Lane;
  scale: Scale;
  state: RunState;
  isOver: boolean;
  isLost: boolean;
  /** Of a container: how many rows its items have, and whether they are shown. */
  fold?: { count: number; isOpen: boolean; toggle: () => void } | undefined;
}

/** One step run: its name, its life as bars, and how long it took in all. */
export function TimelineRow({ lane, scale, state, isOver, isLost, fold }: RowProps) {
  const { step, selectStep } = useSelection();
  const live = state.steps.get(lane.path);
  const name = nameOf(state.graph, lane.path);
  const first = lane.segments[0]?.from ?? scale.from;
  const last = lane.segments.at(-1)?.to ?? scale.to;
  return (
    <li className={classes.row} data-selected={step === lane.path || undefined}>
      <span className={classes.name} data-item={lane.path.includes('[') || undefined}>
        {fold ? <Fold {...fold} name={name} /> : <span className={classes.fold} />}
        <button type="button" className={classes.nameButton} onClick={() => selectStep(lane.path)}>
          {live ? <StatusShape status={lastKnown(shownStatus(live), isLost)} size={13} /> : null}
          <span className={classes.nameText}>{name}</span>
          {live?.map ? <span className={classes.hint}>{`${live.map.settled}/${live.map.total}`}</span> : null}
        </button>
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button with the step's name does the same */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button with the step's name does the same */}
      <span className={classes.track} onClick={() => selectStep(lane.path)}>
        {lane.segments.map((segment) => (
          <Bar key={`${segment.from}-${segment.kind}`} segment={segment} scale={scale} />
        ))}
        {isOver ? null : <span className={classes.now} style={{ left: `${positionIn(scale, scale.to)}%` }} />}
      </span>
      <span className={classes.total}>{formatDuration(last - first)}</span>
    </li>
  );
}

function Fold({ count, isOpen, toggle, name }: NonNullable<RowProps['fold']> & { name: string }) {
  const label = `${formatCount(count, 'row')} of the items of ${name}`;
  return (
    <button type="button" className={classes.fold} aria-expanded={isOpen} aria-label={label} onClick={toggle}>
      {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
    </button>
  );
}

const WORDS: Readonly<Record<Segment['kind'], string>> = {
  queued: 'in the queue',
  running: 'attempt',
  waiting: 'waiting, no worker held',
  items: 'its items',
};

function Bar({ segment, scale }: { segment: Segment; scale: Scale }) {
  const left = positionIn(scale, segment.from);
  const width = positionIn(scale, segment.to ?? scale.to) - left;
  const long = formatDuration((segment.to ?? scale.to) - segment.from);
  const what = segment.kind === 'running' ? `attempt ${segment.attempt}` : WORDS[segment.kind];
  return (
    <span
      className={classes.segment}
      data-kind={segment.kind}
      data-outcome={segment.to === null ? 'open' : segment.outcome}
      style={{ left: `${left}%`, width: `max(3px, ${width}%)` }}
      title={`${what}, ${long}${segment.outcome ? `, ${segment.outcome}` : ''}`}
    >
      {segment.kind === 'running' && segment.attempt > 1 ? segment.attempt : null}
    </span>
  );
}
