import { describe, expect, it } from 'vitest';

import type { StepDetail } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import { brokenMapRun, failedRun, runningRun } from '../../../testing/world/runs';
import { asOf } from '../as-of';
import { isWhole, Replay, seqAt } from '../replay';

const seed = { id: 'r', number: 1, ago_s: 600 };

describe('the log of a run, played', () => {
  it.each([
    ['failed', failedRun],
    ['running', runningRun],
    ['broken map', brokenMapRun],
  ] as const)('to its end gives the run as it is: %s', (_, play) => {
    const run = play(seed);
    const end = new Replay(run.state, run.events).at(run.events.length);
    expect([...end.steps]).toEqual([...run.state.steps]);
    expect(end.run.status).toBe(run.run.status);
  });

  it('to any event gives what a follower saw then, forwards, backwards and far apart', () => {
    const whole = brokenMapRun(seed);
    const replay = new Replay(whole.state, whole.events);
    for (const seq of [whole.events.length - 1, 3, 251, 250, 7, 0]) {
      const early = new Recorder(seed);
      for (const { type, path, data, attempt } of whole.events.slice(1, seq)) {
        early.tell(type, path, data, attempt ?? undefined);
      }
      const then = replay.at(seq);
      expect(then.seq).toBe(seq);
      const statuses = (state: typeof then) => [...state.steps.values()].map((step) => `${step.path} ${step.status}`);
      if (seq > 0) expect(statuses(then)).toEqual(statuses(early.state));
      else expect(new Set([...then.steps.values()].map((step) => step.status))).toEqual(new Set(['pending']));
    }
  });

  it('grows with the run, and keeps what no event tells of as it is', () => {
    const run = runningRun(seed);
    const [first] = run.state.steps.values();
    if (!first) throw new Error('the run has no steps');
    const copied = { ...first, path: 'copied', status: 'succeeded' as const, origin: 'copied' };
    const now = { ...run.state, steps: new Map([...run.state.steps, ['copied', copied]]) };
    const replay = new Replay(now, run.events.slice(0, 20));
    expect(replay.at(999).seq).toBe(20);
    replay.grow(run.events);
    expect(replay.at(30).seq).toBe(30);
    expect(replay.at(1).steps.get('copied')).toBe(copied);
  });

  it('cannot be played where its beginning is missing', () => {
    const { events } = failedRun(seed);
    expect(isWhole(events)).toBe(true);
    expect(isWhole(events.slice(1))).toBe(false);
    expect(isWhole([])).toBe(false);
  });

  it('is found by a moment', () => {
    const { events } = failedRun(seed);
    const at = (seq: number) => Date.parse(events[seq - 1]?.at ?? '');
    expect(seqAt(events, at(1) - 1)).toBe(0);
    expect(events[seqAt(events, at(9)) - 1]?.at).toBe(events[8]?.at);
    expect(seqAt(events, at(events.length) + 5)).toBe(events.length);
  });
});

describe('a step as of a moment', () => {
  it('has no attempt that ended later, and no output before it was committed', () => {
    const run = failedRun(seed);
    const step = run.state.steps.get('compliance');
    if (!step) throw new Error('no such step');
    const value = { value: 1, size: 1, truncated: false };
    const attempt = (number: number, finished_at: string) => ({ number, finished_at });
    const detail = {
      step,
      input: value,
      output: value,
      attempts: [attempt(1, '2026-03-04T12:00:00Z'), attempt(2, '2026-03-04T12:10:00Z')],
      checkpoints: [],
      artifacts: [],
      waits: [],
      why: 'because',
    } as unknown as StepDetail;
    const then = asOf(detail, { ...step, attempt: 1 }, '2026-03-04T12:05:00Z');
    expect(then.attempts.map((one) => one.number)).toEqual([1]);
    expect([then.input.size, then.output.size, then.why]).toEqual([0, 0, null]);
    expect(asOf(detail, step, '2026-03-04T12:20:00Z').input).toBe(value);
  });
});
