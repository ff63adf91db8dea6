import { useMemo, useState } from 'react';

import { useShortcuts } from '../../../components/ui/shortcuts';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { useNow } from '../../../hooks/use-now';
import { formatDuration } from '../../../lib/format';
import { useFreshness } from '../freshness';
import { useRunState } from '../store';
import { groupLanes, lanesOf, positionIn, type Scale, ticksOf } from '../timeline';
import { useHistory } from '../use-history';
import { TimelineRow } from './timeline-row';
import classes from './timeline-view.module.css';

/** So many rows of items are drawn below one container; the step panel pages through all of them. */
const MOST_ITEM_ROWS = 300;

function useUnfolded(all: readonly string[]) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) =>
    setOpen((before) => new Set(before.has(path) ? [...before].filter((one) => one !== path) : [...before, path]));
  useShortcuts('Timeline', [
    { key: 'e', label: 'Expand all containers', act: () => setOpen(new Set(all)) },
    { key: 'w', label: 'Collapse all containers', act: () => setOpen(new Set()) },
  ]);
  return { open, toggle };
}

/** A row a step: queued, running, waiting; attempts side by side; a line for now. A click selects the node. */
export function TimelineView() {
  const { events, isPending, error, retry } = useHistory();
  const state = useRunState((run) => run);
  const isOver = state.run.finished_at !== null;
  const freshness = useFreshness();
  const isLost = freshness.how === 'lost';
  const now = useNow(1000, !isOver && !isLost);
  const groups = useMemo(() => groupLanes(lanesOf(events)), [events]);
  const { open, toggle } = useUnfolded(groups.map((group) => group.path));
  if (error) return <ErrorState error={error} what="the timeline" onRetry={retry} />;
  if (isPending) return <LoadingRows label="Loading the timeline" />;
  const from = Date.parse(state.run.started_at);
  const lastAt = Date.parse(events.at(-1)?.at ?? state.run.started_at);
  const scale: Scale = { from, to: Math.max(isOver ? lastAt : now, lastAt, from + 1) };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.view} aria-label="Timeline of the run" tabIndex={0}>
      <Ruler scale={scale} />
      <ol className={classes.lanes}>
        {groups.map((group) => {
          const isOpen = open.has(group.path);
          const fold =
            group.items.length > 0
              ? { count: group.items.length, isOpen, toggle: () => toggle(group.path) }
              : undefined;
          const shown = isOpen ? group.items.slice(0, MOST_ITEM_ROWS) : [];
          return [
            <TimelineRow key={group.path} lane={group} {...{ scale, state, isOver, isLost }} fold={fold} />,
            ...shown.map((lane) => <TimelineRow key={lane.path} lane={lane} {...{ scale, state, isOver, isLost }} />),
          ];
        })}
      </ol>
      <Legend />
    </section>
  );
}

function Ruler({ scale }: { scale: Scale }) {
  return (
    <div className={classes.ruler} aria-hidden="true">
      <span className={classes.name} />
      <div className={classes.track}>
        {ticksOf(scale).map((at) => (
          <span key={at} className={classes.tick} style={{ left: `${positionIn(scale, scale.from + at)}%` }}>
            {at === 0 ? '0' : formatDuration(at)}
          </span>
        ))}
      </div>
      <span className={classes.total} />
    </div>
  );
}

function Legend() {
  return (
    <ul className={classes.legend} aria-label="What the bars mean">
      <li data-kind="queued">in the queue</li>
      <li data-kind="succeeded">attempt succeeded</li>
      <li data-kind="failed">attempt failed</li>
      <li data-kind="running">running</li>
      <li data-kind="waiting">waiting, no worker held</li>
    </ul>
  );
}
