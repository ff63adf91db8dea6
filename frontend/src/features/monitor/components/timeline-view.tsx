import { type MouseEvent, type RefObject, useMemo, useRef, useState } from 'react';

import { useShortcuts } from '../../../components/ui/shortcuts';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { useNow } from '../../../hooks/use-now';
import { formatDuration } from '../../../lib/format';
import { useFreshness } from '../freshness';
import { seqAt } from '../replay';
import { useSelection } from '../selection';
import { useIsPast, useRunState } from '../store';
import { groupLanes, lanesOf, positionIn, type Scale, ticksOf } from '../timeline';
import { useHistory } from '../use-history';
import { useZoom, type Zoom } from '../use-zoom';
import { useUsual } from '../usual';
import { type RowProps, TimelineRow } from './timeline-row';
import { TimelineTools } from './timeline-tools';
import classes from './timeline-view.module.css';

/** So many rows of items are drawn below one container; the step panel pages through all of them. */
const MOST_ITEM_ROWS = 300;

function useUnfolded(all: readonly string[]) {
  const { pane, step } = useSelection();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) =>
    setOpen((before) => new Set(before.has(path) ? [...before].filter((one) => one !== path) : [...before, path]));
  const collapse = { key: 'w', label: 'Collapse all containers', act: () => setOpen(new Set()) };
  const isLogOpen = step !== null && pane === 'logs'; // W wraps its lines
  useShortcuts('Timeline', [
    { key: 'e', label: 'Expand all containers', act: () => setOpen(new Set(all)) },
    ...(isLogOpen ? [] : [collapse]),
  ]);
  return { open, toggle };
}

/** From the run's start to its end, or to now. The past has the same scale, so that nothing jumps while one scrubs. */
function useScale() {
  const { events, isPending, error, retry } = useHistory();
  const state = useRunState((run) => run);
  const isPast = useIsPast();
  const isLost = useFreshness().how === 'lost';
  const isOver = state.run.finished_at !== null;
  const clock = useNow(1000, !isOver && !isLost && !isPast);
  const from = Date.parse(state.run.started_at);
  const lastAt = Date.parse(events.at(-1)?.at ?? state.run.started_at);
  const to = Math.max(isOver || isPast ? lastAt : clock, lastAt, from + 1);
  const shown = useMemo(() => (isPast ? events.slice(0, state.seq) : events), [events, isPast, state.seq]);
  const now = isPast ? Date.parse(shown.at(-1)?.at ?? state.run.started_at) : to;
  const whole = useMemo<Scale>(() => ({ from, to }), [from, to]);
  return { events, shown, state, whole, now, isOver: isOver && !isPast, isLost, isPending, error, retry };
}

/** A row a step: queued, running, waiting; attempts side by side; a line for now. A click selects the node. */
export function TimelineView() {
  const { events, shown, whole, isPending, error, retry, ...rest } = useScale();
  const usual = useUsual();
  const track = useRef<HTMLDivElement>(null);
  const zoom = useZoom(whole, track);
  const groups = useMemo(() => groupLanes(lanesOf(shown)), [shown]);
  const { open, toggle } = useUnfolded(groups.map((group) => group.path));
  useShortcuts('Timeline', [
    { key: '+', label: 'Nearer', act: () => zoom.by(0.5) },
    { key: '-', label: 'Further away', act: () => zoom.by(2) },
    { key: '0', label: 'Fit the whole run', act: zoom.fit },
    { key: '[', label: 'Earlier, while it is near', act: () => zoom.pan(-0.25) },
    { key: ']', label: 'Later, while it is near', act: () => zoom.pan(0.25) },
  ]);
  if (error) return <ErrorState error={error} what="the timeline" onRetry={retry} />;
  if (isPending) return <LoadingRows label="Loading the timeline" />;
  const common: Omit<RowProps, 'lane' | 'fold'> = { ...rest, usual, scale: zoom.shown };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.view} aria-label="Timeline of the run" tabIndex={0}>
      <TimelineTools zoom={zoom} />
      <Ruler {...{ zoom, track, whole }} seqOf={(moment) => seqAt(events, moment)} />
      <ol className={classes.lanes}>
        {groups.map((group) => {
          const isOpen = open.has(group.path);
          const fold = { count: group.items.length, isOpen, toggle: () => toggle(group.path) };
          const items = isOpen ? group.items.slice(0, MOST_ITEM_ROWS) : [];
          const more = isOpen ? group.items.length - items.length : 0;
          return [
            <TimelineRow key={group.path} lane={group} {...common} fold={fold.count > 0 ? fold : undefined} />,
            ...items.map((lane) => <TimelineRow key={lane.path} lane={lane} {...common} />),
            more > 0 ? (
              <li key={`${group.path} more`} className={classes.more}>
                {more} more rows are not drawn; failed ones stand first. The step's panel pages through all items.
              </li>
            ) : null,
          ];
        })}
      </ol>
    </section>
  );
}

interface RulerProps {
  zoom: Zoom;
  whole: Scale;
  track: RefObject<HTMLDivElement | null>;
  seqOf: (moment: number) => number;
}

/** Times since the run's start. A click shows the run as it was at that moment; the scrubber does so by keyboard. */
function Ruler({ zoom, whole, track, seqOf }: RulerProps) {
  const { setAt } = useSelection();
  const { shown } = zoom;
  const goTo = (event: MouseEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const seq = seqOf(shown.from + ((event.clientX - box.left) / Math.max(1, box.width)) * (shown.to - shown.from));
    setAt(Math.max(1, seq));
  };
  const since = shown.from - whole.from;
  return (
    <div className={classes.ruler} aria-hidden="true">
      <span className={classes.name} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the scrubber below does the same */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the scrubber below does the same */}
      <div className={classes.track} ref={track} onClick={goTo} title="Show the run as it was at this moment">
        {ticksOf(shown, 8, whole.from).map((at) => (
          <span key={at} className={classes.tick} style={{ left: `${positionIn(shown, shown.from + at)}%` }}>
            {since + at < 1 ? '0' : formatDuration(since + at)}
          </span>
        ))}
      </div>
      <span className={classes.total}>took</span>
    </div>
  );
}
