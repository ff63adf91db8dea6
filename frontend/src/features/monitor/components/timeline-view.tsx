import { useMemo } from 'react';

import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { StatusShape } from '../../../diagram';
import { useNow } from '../../../hooks/use-now';
import { formatDuration } from '../../../lib/format';
import { shownStatus } from '../node-status';
import type { RunState } from '../reducer';
import { useSelection } from '../selection';
import { useRunState } from '../store';
import { nameOf } from '../summary';
import { type Lane, lanesOf, positionIn, type Scale, type Segment, ticksOf } from '../timeline';
import { useHistory } from '../use-history';
import classes from './timeline-view.module.css';

const MOST_LANES = 400;

/** A row a step: queued, running, waiting; attempts side by side; a line for now. A click selects the node. */
export function TimelineView() {
  const { events, isPending, error, retry } = useHistory();
  const state = useRunState((run) => run);
  const isOver = state.run.finished_at !== null;
  const now = useNow(1000, !isOver);
  const lanes = useMemo(() => lanesOf(events), [events]);
  const ordered = useMemo(() => orderLanes(lanes, state.graph), [lanes, state.graph]);
  if (error) return <ErrorState error={error} what="the timeline" onRetry={retry} />;
  if (isPending) return <LoadingRows label="Loading the timeline" />;
  const from = Date.parse(state.run.started_at);
  const lastAt = events.length > 0 ? Date.parse(events[events.length - 1]?.at ?? '') : from;
  const to = isOver ? Math.max(lastAt, from + 1) : Math.max(now, lastAt, from + 1);
  const scale: Scale = { from, to };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.view} aria-label="Timeline of the run" tabIndex={0}>
      <Ruler scale={scale} />
      <ol className={classes.lanes}>
        {ordered.slice(0, MOST_LANES).map((lane) => (
          <Row key={lane.path} lane={lane} scale={scale} state={state} isOver={isOver} />
        ))}
      </ol>
      {ordered.length > MOST_LANES ? (
        <p className={classes.more}>
          {ordered.length - MOST_LANES} more rows are not drawn. Select the container to see its items.
        </p>
      ) : null}
      <Legend />
    </section>
  );
}

/** In the order of the graph, items below their container, each group by its begin. */
function orderLanes(lanes: ReadonlyMap<string, Lane>, graph: RunState['graph']): Lane[] {
  const begin = (lane: Lane) => lane.segments[0]?.from ?? 0;
  const all = [...lanes.values()];
  const top = all.filter((lane) => !lane.path.includes('.')).sort((a, b) => begin(a) - begin(b));
  const below = new Map<string, Lane[]>();
  for (const lane of all) {
    if (!lane.path.includes('.')) continue;
    const root = lane.path.slice(0, lane.path.indexOf('['));
    below.set(root, [...(below.get(root) ?? []), lane]);
  }
  const place = new Map(graph.nodes.map((node, at) => [node.key, at]));
  return top
    .sort((a, b) => begin(a) - begin(b) || (place.get(a.path) ?? 0) - (place.get(b.path) ?? 0))
    .flatMap((lane) => [lane, ...(below.get(lane.path) ?? []).sort((a, b) => begin(a) - begin(b))]);
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

interface RowProps {
  lane: Lane;
  scale: Scale;
  state: RunState;
  isOver: boolean;
}

function Row({ lane, scale, state, isOver }: RowProps) {
  const { step, selectStep } = useSelection();
  const live = state.steps.get(lane.path);
  const isItem = lane.path.includes('.');
  const first = lane.segments[0]?.from ?? scale.from;
  const last = lane.segments.at(-1)?.to ?? scale.to;
  return (
    <li>
      <button
        type="button"
        className={classes.row}
        data-selected={step === lane.path || undefined}
        onClick={() => selectStep(lane.path)}
      >
        <span className={classes.name} data-item={isItem || undefined}>
          {live ? <StatusShape status={shownStatus(live)} size={13} /> : null}
          <span className={classes.nameText}>{nameOf(state.graph, lane.path)}</span>
        </span>
        <span className={classes.track}>
          {lane.segments.map((segment) => (
            <Bar key={`${segment.from}-${segment.kind}`} segment={segment} scale={scale} />
          ))}
          {isOver ? null : <span className={classes.now} style={{ left: `${positionIn(scale, scale.to)}%` }} />}
        </span>
        <span className={classes.total}>{formatDuration(last - first)}</span>
      </button>
    </li>
  );
}

function Bar({ segment, scale }: { segment: Segment; scale: Scale }) {
  const left = positionIn(scale, segment.from);
  const width = positionIn(scale, segment.to ?? scale.to) - left;
  const long = formatDuration((segment.to ?? scale.to) - segment.from);
  const what = segment.kind === 'running' ? `attempt ${segment.attempt}` : segment.kind;
  return (
    <span
      className={classes.segment}
      data-kind={segment.kind}
      data-outcome={segment.to === null ? 'open' : segment.outcome}
      style={{ left: `${left}%`, width: `max(2px, ${width}%)` }}
      title={`${what}, ${long}${segment.outcome ? `, ${segment.outcome}` : ''}`}
    >
      {segment.kind === 'running' && segment.attempt > 1 ? segment.attempt : null}
    </span>
  );
}

function Legend() {
  return (
    <ul className={classes.legend} aria-label="What the bars mean">
      <li data-kind="queued">queued</li>
      <li data-kind="running">running</li>
      <li data-kind="failed">attempt failed</li>
      <li data-kind="waiting">waiting, no worker held</li>
    </ul>
  );
}
