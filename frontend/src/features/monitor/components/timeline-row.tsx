import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';

import type { Usual } from '../../../api/types';
import { StatusShape } from '../../../diagram';
import { formatCount, formatDuration } from '../../../lib/format';
import { lastKnown } from '../freshness';
import { shownStatus } from '../node-status';
import type { RunState } from '../reducer';
import { useSelection } from '../selection';
import { nameOf } from '../summary';
import { type Lane, positionIn, type Scale, type Segment, sharesOf } from '../timeline';
import { slownessOf, usualSentence } from '../usual';
import classes from './timeline-view.module.css';

export interface RowProps {
  lane: Lane;
  scale: Scale;
  /** The moment up to which the lanes are known; `isOver`: nothing goes on beyond it. */
  now: number;
  isOver: boolean;
  isLost: boolean;
  state: RunState;
  usual: ReadonlyMap<string, Usual>;
  /** Of a container: how many rows its items have, and whether they are shown. */
  fold?: { count: number; isOpen: boolean; toggle: () => void } | undefined;
}

/** One step run: its name, its life as bars, and how long it was at work. */
export function TimelineRow({ lane, scale, now, isOver, isLost, state, usual, fold }: RowProps) {
  const { step, selectStep } = useSelection();
  const live = state.steps.get(lane.path);
  const name = nameOf(state.graph, lane.path);
  return (
    <li className={classes.row} data-selected={step === lane.path || undefined}>
      <span className={classes.name} data-item={lane.path.includes('[') || undefined}>
        {fold ? <Fold {...fold} name={name} /> : <span className={classes.fold} />}
        <button type="button" className={classes.nameButton} onClick={() => selectStep(lane.path)}>
          {live ? <StatusShape status={lastKnown(shownStatus(live), isLost)} size={13} /> : null}
          <span className={classes.nameText} title={name}>
            {name}
          </span>
          {live?.map ? <span className={classes.hint}>{`${live.map.settled}/${live.map.total}`}</span> : null}
        </button>
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button with the step's name does the same */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button with the step's name does the same */}
      <span className={classes.track} onClick={() => selectStep(lane.path)}>
        {lane.segments.map((segment) => (
          <Bar key={`${segment.from}-${segment.kind}`} {...{ segment, scale, now, name }} />
        ))}
        {isOver ? null : <span className={classes.now} style={{ left: `${positionIn(scale, now)}%` }} />}
      </span>
      <Took lane={lane} now={now} usual={live ? usual.get(live.node) : undefined} />
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

/** The time at work where a step did any work, else that of its wait; where it is much beyond the usual, how much. */
function Took({ lane, now, usual }: { lane: Lane; now: number; usual: Usual | undefined }) {
  const shares = sharesOf(lane, now);
  const items = lane.segments.find((one) => one.kind === 'items');
  const hasWaited = lane.segments.some((one) => one.kind === 'waiting');
  const long = items ? (items.to ?? now) - items.from : hasWaited ? shares.waited : shares.ran;
  const last = lane.segments.findLast(
    (one) => one.kind === 'running' || one.kind === 'waiting' || one.kind === 'items',
  );
  const slow = last ? slownessOf((last.to ?? now) - last.from, usual) : null;
  const parts = [
    `at work ${formatDuration(shares.ran)}`,
    `in the queue ${formatDuration(shares.queued)}`,
    `waiting ${formatDuration(shares.waited)}`,
    ...(usual ? [usualSentence(usual)] : []),
  ];
  return (
    <span className={classes.total} title={parts.join(', ')}>
      {slow ? (
        <span className={classes.slow}>{`${slow < 10 ? slow.toFixed(1) : Math.round(slow)}× usual `}</span>
      ) : null}
      {lane.segments.every((one) => one.kind === 'reused' || one.kind === 'skipped') ? '–' : formatDuration(long)}
    </span>
  );
}

const WAITS: { [wait: string]: string } = {
  timer: 'waiting for a time',
  approval: 'waiting for a person',
  form: 'waiting for a form',
  callback: 'waiting for a callback',
  child: 'waiting for a run that it started',
  decision: 'waiting for a decision',
};

export function segmentWords({ kind, attempt, wait }: Segment): string {
  switch (kind) {
    case 'queued':
      return 'in the queue';
    case 'running':
      return `attempt ${attempt}`;
    case 'pause':
      return `pause after attempt ${attempt}`;
    case 'items':
      return 'its items';
    case 'reused':
      return 'result taken over, nothing ran';
    case 'skipped':
      return 'left out';
    case 'waiting':
      return `${WAITS[wait ?? ''] ?? 'waiting'}, no worker held`;
  }
}

interface BarProps {
  segment: Segment;
  scale: Scale;
  now: number;
  name: string;
}

function Bar({ segment, scale, now, name }: BarProps) {
  const to = segment.to ?? now;
  if (to < scale.from || segment.from > scale.to) return null;
  const left = Math.max(0, positionIn(scale, segment.from));
  const width = Math.min(100, positionIn(scale, to)) - left;
  const isMoment = segment.kind === 'reused' || segment.kind === 'skipped';
  const words = [segmentWords(segment), ...(isMoment ? [] : [formatDuration(to - segment.from)])];
  if (segment.outcome) words.push(segment.outcome);
  return (
    <span
      className={classes.segment}
      data-kind={segment.kind}
      data-outcome={segment.to === null ? 'open' : segment.outcome}
      style={{ left: `${left}%`, width: isMoment ? undefined : `max(3px, ${width}%)` }}
      title={`${name}: ${words.join(', ')}`}
    >
      {segment.kind === 'running' && segment.attempt > 1 ? segment.attempt : null}
      {segment.kind === 'reused' ? '⤼' : null}
    </span>
  );
}
