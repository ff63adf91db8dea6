import { describe, expect, it } from 'vitest';

import type { RunEvent, Snapshot } from '../../../api/types';
import { comparable, type GoldenCase } from '../../../testing/golden';
import { Recorder } from '../../../testing/world/recorder';
import { failedRun } from '../../../testing/world/runs';
import { fromSnapshot, reduce } from '../reducer';

const cases = Object.entries(
  import.meta.glob<GoldenCase>('../../../testing/golden/*.json', { eager: true, import: 'default' }),
);

const seed = { id: 'r', number: 1, ago_s: 600 };

function event(seq: number, type: string, more: Partial<RunEvent> = {}): RunEvent {
  return { seq, type, at: '2026-01-31T12:00:00Z', path: null, attempt: null, actor: 'system', data: {}, ...more };
}

describe('the golden cases', () => {
  it.each(cases)('%s: the browser makes of the events what the server answers', (_, golden) => {
    let state = fromSnapshot(golden.snapshot);
    for (const message of golden.messages) {
      const reduced = reduce(state, { items: message.events });
      expect(reduced.gap).toBe(false);
      state = reduced.state;
    }
    expect(comparable({ ...state, steps: state.steps.values() })).toEqual(comparable(golden.expected));
  });

  it('are there', () => expect(cases.length).toBeGreaterThanOrEqual(4));
});

describe('numbered events', () => {
  const start = (): Snapshot => new Recorder(seed).snapshot();

  it('that are already known change nothing, not even identity', () => {
    const state = fromSnapshot(start());
    const reduced = reduce(state, { items: [event(1, 'run.failed')] });
    expect(reduced.state).toBe(state);
    expect(reduced.gap).toBe(false);
  });

  it('of a pause tell since when and by whom, the first of them for all', () => {
    const at = (seconds: number) => `2026-01-31T12:00:0${seconds}Z`;
    const items = [
      event(2, 'run.paused', { actor: 'Ana', at: at(1) }),
      event(3, 'run.paused', { data: { at: 'fetch' }, at: at(2) }),
    ];
    const { state } = reduce(fromSnapshot(start()), { items });
    expect(state.run).toMatchObject({ pause: { by: 'Ana', since: at(1), at: null }, paused_at: ['fetch'] });
    const later = reduce(state, {
      items: [event(4, 'run.running'), event(5, 'run.paused', { data: { at: 'parse' } })],
    });
    expect(later.state.run).toMatchObject({ pause: { by: 'system', at: 'parse' }, paused_at: ['parse'] });
    expect(reduce(later.state, { items: [event(6, 'run.running')] }).state.run.pause).toBeNull();
  });

  it('stop at a gap, and say so', () => {
    const state = fromSnapshot(start());
    const items = [event(2, 'step.ready', { path: 'fetch' }), event(4, 'step.succeeded', { path: 'fetch' })];
    const reduced = reduce(state, { items });
    expect(reduced.gap).toBe(true);
    expect(reduced.state.seq).toBe(2);
    expect(reduced.state.steps.get('fetch')?.status).toBe('ready');
  });

  it('leave the steps that they do not name as they are', () => {
    const state = fromSnapshot(start());
    const { state: next } = reduce(state, { items: [event(2, 'step.ready', { path: 'fetch' })] });
    expect(next.steps.get('parse')).toBe(state.steps.get('parse'));
    expect(next.steps.get('fetch')).not.toBe(state.steps.get('fetch'));
  });

  it('of a kind that this version does not know only move the number on', () => {
    const state = fromSnapshot(start());
    const { state: next } = reduce(state, { items: [event(2, 'step.levitating', { path: 'fetch' })] });
    expect(next.seq).toBe(2);
    expect(next.steps.get('fetch')).toBe(state.steps.get('fetch'));
  });

  it('give the same end whether they come at once, one by one, or twice', () => {
    const { events } = failedRun(seed);
    const fresh = () => fromSnapshot({ ...new Recorder(seed).snapshot(), seq: 0 });
    const whole = reduce(fresh(), { items: events }).state;
    let single = fresh();
    for (const one of events) single = reduce(reduce(single, { items: [one] }).state, { items: [one] }).state;
    const view = (state: typeof whole) => comparable({ ...state, steps: state.steps.values() });
    expect(view(single)).toEqual(view(whole));
    expect(whole.run.status).toBe('failed');
  });

  it('tell when a retry comes, by a time or by a delay', () => {
    const state = fromSnapshot(start());
    const wait = event(2, 'step.retry_wait', { path: 'fetch', data: { delay_s: 30 } });
    const { state: next } = reduce(state, { items: [wait] });
    expect(next.steps.get('fetch')?.not_before).toBe('2026-01-31T12:00:30.000Z');
  });

  it('5,000 of them are replayed in 300 ms', () => {
    const items = Array.from({ length: 5000 }, (_, at) =>
      event(at + 2, at % 2 ? 'step.succeeded' : 'step.running', { path: `ocr_documents[${at >> 1}].read`, attempt: 1 }),
    );
    const began = performance.now();
    const { state } = reduce(fromSnapshot(start()), { items });
    expect(performance.now() - began).toBeLessThan(300);
    expect(state.seq).toBe(5001);
  });
});
