import type { RunEvent } from '../../api/types';

/** A stretch of a step's life: in the queue, executed as one attempt, waiting without a worker, or working on its items. */
export interface Segment {
  kind: 'queued' | 'running' | 'waiting' | 'items';
  from: number;
  /** null: it goes on now. */
  to: number | null;
  attempt: number;
  /** How an attempt ended. */
  outcome?: 'succeeded' | 'failed' | 'cancelled' | 'other';
}

export interface Lane {
  path: string;
  segments: Segment[];
}

const OPENS: { [status: string]: Segment['kind'] } = {
  ready: 'queued',
  running: 'running',
  waiting: 'waiting',
  retry_wait: 'waiting',
  needs_decision: 'waiting',
};

const OUTCOMES: { [status: string]: Segment['outcome'] } = {
  succeeded: 'succeeded',
  failed: 'failed',
  retry_wait: 'failed',
  needs_decision: 'failed',
  cancelled: 'cancelled',
};

/** Makes lanes of events, a lane a step run, in the order in which they first began. */
export function lanesOf(events: readonly RunEvent[]): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (const event of events) {
    if (event.path === null || !event.type.startsWith('step.')) continue;
    const status = event.type.slice('step.'.length);
    const lane = lanes.get(event.path) ?? { path: event.path, segments: [] };
    close(lane, status, Date.parse(event.at));
    const kind = event.data.wait === 'children' ? 'items' : OPENS[status];
    if (kind) lane.segments.push({ kind, from: Date.parse(event.at), to: null, attempt: event.attempt ?? 0 });
    if (lane.segments.length > 0) lanes.set(event.path, lane);
  }
  return lanes;
}

function close(lane: Lane, status: string, at: number): void {
  const open = lane.segments.at(-1);
  if (!open || open.to !== null) return;
  open.to = Math.max(at, open.from);
  if (open.kind === 'running') open.outcome = OUTCOMES[status] ?? 'other';
}

/** A lane at the top with the lanes of its items. */
export interface LaneGroup extends Lane {
  items: Lane[];
}

const beginOf = (lane: Lane): number => lane.segments[0]?.from ?? 0;

/** Lanes by their begin; those of a container's items stand below it. */
export function groupLanes(lanes: ReadonlyMap<string, Lane>): LaneGroup[] {
  const groups = new Map<string, LaneGroup>();
  for (const lane of lanes.values()) if (!lane.path.includes('[')) groups.set(lane.path, { ...lane, items: [] });
  for (const lane of lanes.values()) {
    if (lane.path.includes('[')) groups.get(lane.path.slice(0, lane.path.indexOf('[')))?.items.push(lane);
  }
  const byBegin = (a: Lane, b: Lane) => beginOf(a) - beginOf(b);
  for (const group of groups.values()) group.items.sort(byBegin);
  return [...groups.values()].sort(byBegin);
}

export interface Scale {
  from: number;
  to: number;
}

export const positionIn = ({ from, to }: Scale, at: number): number =>
  to > from ? ((at - from) / (to - from)) * 100 : 0;

const STEPS_MS = [
  10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

/** Round moments since the beginning of a scale, at most `most` of them. */
export function ticksOf({ from, to }: Scale, most = 8): number[] {
  const span = to - from;
  const step = STEPS_MS.find((one) => span / one <= most) ?? Math.ceil(span / most / 86_400_000) * 86_400_000;
  const ticks: number[] = [];
  for (let at = 0; at <= span; at += step) ticks.push(at);
  return ticks;
}
