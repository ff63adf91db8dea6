import type { RunEvent } from '../../api/types';
import { type LiveStep, type RunState, reduce, UNTOUCHED } from './reducer';

const EVERY = 250;

/** Whether the log is there from its first event on, without a gap: only then can it be played. */
export const isWhole = (events: readonly RunEvent[]): boolean =>
  events[0]?.seq === 1 && events.at(-1)?.seq === events.length;

/** The run before its first event. What no event ever tells of (steps of a fork that were copied) is as it is now. */
export function beginningOf(now: RunState, events: readonly RunEvent[]): RunState {
  const told = new Set(events.map((event) => event.path));
  const steps = new Map<string, LiveStep>();
  for (const step of now.steps.values()) {
    if (!told.has(step.path)) steps.set(step.path, step);
    else if (step.index === null) steps.set(step.path, { ...step, ...UNTOUCHED });
  }
  const run: RunState['run'] = {
    ...now.run,
    status: 'running',
    generation: 1,
    error: null,
    paused_at: [],
    paused_by: null,
    pause: null,
    finished_at: null,
  };
  return { ...now, run, steps, seq: 0, acts: {} };
}

/** Plays the log of a run to any of its events, by the reducer that follows it live. Keeps a picture of every 250th. */
export class Replay {
  private readonly frames: RunState[];
  private events: readonly RunEvent[];

  constructor(now: RunState, events: readonly RunEvent[]) {
    this.events = events;
    this.frames = [beginningOf(now, events)];
  }

  /** The log has grown at its end. */
  grow(events: readonly RunEvent[]): void {
    this.events = events;
  }

  at(seq: number): RunState {
    const wanted = Math.max(0, Math.min(seq, this.events.length));
    let last = Math.min(Math.floor(wanted / EVERY), this.frames.length - 1);
    let state = this.frames[last] as RunState;
    while (state.seq < wanted) {
      const until = Math.min((last + 1) * EVERY, wanted);
      const next = reduce(state, { items: this.events.slice(state.seq, until) });
      if (next.fresh.length === 0) break;
      state = next.state;
      if (state.seq === (last + 1) * EVERY) {
        last += 1;
        this.frames[last] = state;
      }
    }
    return state;
  }
}

/** The number of the last event at or before a moment. */
export function seqAt(events: readonly RunEvent[], moment: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(events[middle]?.at ?? '') <= moment) low = middle + 1;
    else high = middle;
  }
  return events[low - 1]?.seq ?? 0;
}
