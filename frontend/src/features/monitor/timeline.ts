import type { RunEvent } from '../../api/types';

/**
 * A stretch of a step's life: in the queue, executed as one attempt, the pause before the next one, waiting without a
 * worker, or working on its items. A result that was taken over, and a step that was left out, are moments.
 */
export interface Segment {
  kind: 'queued' | 'running' | 'pause' | 'waiting' | 'items' | 'reused' | 'skipped';
  from: number;
  /** null: it goes on now. */
  to: number | null;
  attempt: number;
  /** How an attempt ended. */
  outcome?: 'succeeded' | 'failed' | 'cancelled' | 'other';
  /** What a wait is for. */
  wait?: string;
}

export interface Lane {
  path: string;
  segments: Segment[];
}

const OPENS: { [status: string]: Segment['kind'] } = {
  ready: 'queued',
  running: 'running',
  waiting: 'waiting',
  retry_wait: 'pause',
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
    const opened = openedBy(event, status);
    if (opened) lane.segments.push(opened);
    if (lane.segments.length > 0) lanes.set(event.path, lane);
  }
  return lanes;
}

const TAKEN_OVER: ReadonlySet<unknown> = new Set(['reused', 'copied']);

function openedBy(event: RunEvent, status: string): Segment | null {
  const at = Date.parse(event.at);
  const segment = (kind: Segment['kind'], to: number | null): Segment => ({
    kind,
    from: at,
    to,
    attempt: event.attempt ?? 0,
  });
  if (status === 'succeeded' && TAKEN_OVER.has(event.data.origin)) return segment('reused', at);
  if (status === 'skipped' && event.data.reason !== 'upstream_failed') return segment('skipped', at);
  const kind = event.data.wait === 'children' ? 'items' : OPENS[status];
  if (!kind) return null;
  const wait = status === 'needs_decision' ? 'decision' : event.data.wait;
  return { ...segment(kind, null), ...(typeof wait === 'string' ? { wait } : {}) };
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

/** Where a lane's time went, in ms. `now` ends what goes on. */
export function sharesOf({ segments }: Lane, now: number): { queued: number; ran: number; waited: number } {
  const shares = { queued: 0, ran: 0, waited: 0 };
  for (const { kind, from, to } of segments) {
    const long = Math.max(0, (to ?? now) - from);
    if (kind === 'queued') shares.queued += long;
    else if (kind === 'running') shares.ran += long;
    else if (kind === 'waiting' || kind === 'pause') shares.waited += long;
  }
  return shares;
}

const hasFailed = (lane: Lane): boolean =>
  lane.segments.findLast((one) => one.kind === 'running')?.outcome === 'failed';

/** Lanes by their begin; those of a container's items stand below it, failed ones first. */
export function groupLanes(lanes: ReadonlyMap<string, Lane>): LaneGroup[] {
  const groups = new Map<string, LaneGroup>();
  for (const lane of lanes.values()) if (!lane.path.includes('[')) groups.set(lane.path, { ...lane, items: [] });
  for (const lane of lanes.values()) {
    if (lane.path.includes('[')) groups.get(lane.path.slice(0, lane.path.indexOf('[')))?.items.push(lane);
  }
  const byBegin = (a: Lane, b: Lane) => beginOf(a) - beginOf(b);
  const byNeed = (a: Lane, b: Lane) => Number(hasFailed(b)) - Number(hasFailed(a)) || byBegin(a, b);
  for (const group of groups.values()) group.items.sort(byNeed);
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

/** Round moments of a scale, at most about `most` of them, as ms since its beginning; round since `origin`, its own or earlier. */
export function ticksOf({ from, to }: Scale, most = 8, origin = from): number[] {
  const span = to - from;
  const step = STEPS_MS.find((one) => span / one <= most) ?? Math.ceil(span / most / 86_400_000) * 86_400_000;
  const ticks: number[] = [];
  const since = from - origin;
  for (let at = Math.ceil(since / step) * step - since; at <= span; at += step) ticks.push(at);
  return ticks;
}
