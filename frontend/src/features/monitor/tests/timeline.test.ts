import { describe, expect, it } from 'vitest';

import type { Usual } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import { brokenMapRun, failedRun, waitingRun } from '../../../testing/world/runs';
import { segmentWords } from '../components/timeline-row';
import { groupLanes, lanesOf, sharesOf, ticksOf } from '../timeline';
import { slownessOf } from '../usual';
import { isAll, panned, zoomed } from '../zoom';

const seed = { id: 'r', number: 1, ago_s: 600 };

describe('the life of a step', () => {
  it('is split into the queue, each attempt, the pause between them and the waits', () => {
    const run = new Recorder(seed);
    run.tell('step.ready', 'compliance');
    run.after(2).begin('compliance');
    run.after(3).tell('step.retry_wait', 'compliance', { delay_s: 8 });
    run.after(8).tell('step.ready', 'compliance');
    run.after(1).begin('compliance', 2).succeed('compliance', 4);
    const lane = lanesOf(run.events).get('compliance');
    expect(lane?.segments.map((one) => [one.kind, one.attempt, one.outcome])).toEqual([
      ['queued', 0, undefined],
      ['running', 1, 'failed'],
      ['pause', 1, undefined],
      ['queued', 1, undefined],
      ['running', 2, 'succeeded'],
    ]);
    if (lane) expect(sharesOf(lane, 0)).toEqual({ queued: 3000, ran: 7000, waited: 8000 });
  });

  it('says what it waits for, and goes on until now', () => {
    const run = waitingRun(seed);
    const wait = lanesOf(run.events).get('review')?.segments.at(-1);
    expect(wait).toMatchObject({ kind: 'waiting', to: null, wait: 'approval' });
    if (wait) expect(segmentWords(wait)).toBe('waiting for a person, no worker held');
    const lane = { path: 'review', segments: wait ? [wait] : [] };
    expect(sharesOf(lane, (wait?.from ?? 0) + 5000).waited).toBe(5000);
  });

  it('shows a result that was taken over, and what was left out, but not what was never reached', () => {
    const run = new Recorder(seed);
    run.tell('step.succeeded', 'fetch', { port: 'out', origin: 'reused' });
    run.tell('step.skipped', 'rejected', { reason: 'not_taken' });
    run.tell('step.skipped', 'archive', { reason: 'upstream_failed' });
    const lanes = lanesOf(run.events);
    expect(lanes.get('fetch')?.segments[0]).toMatchObject({ kind: 'reused' });
    expect(lanes.get('rejected')?.segments[0]?.kind).toBe('skipped');
    expect(lanes.has('archive')).toBe(false);
  });

  it('stands below its container, the failed items first', () => {
    const group = groupLanes(lanesOf(brokenMapRun(seed).events)).find((one) => one.path === 'ocr_documents');
    expect(group?.items.slice(0, 3).map((one) => one.path)).toEqual(
      [6, 22, 31].map((index) => `ocr_documents[${index}].read`),
    );
    expect(groupLanes(lanesOf(failedRun(seed).events)).map((one) => one.path)).not.toContain('ocr_documents[0].read');
  });
});

describe('the zoom', () => {
  const whole = { from: 1000, to: 11_000 };

  it('keeps the moment under the pointer, and never leaves the run', () => {
    const near = zoomed(whole, whole, { factor: 0.5, around: 6000 });
    expect(near).toEqual({ from: 3500, to: 8500 });
    expect(zoomed(near, whole, { factor: 100, around: 6000 })).toEqual(whole);
    expect(zoomed(whole, whole, { factor: 0.5, around: 1000 })).toEqual({ from: 1000, to: 6000 });
    const closest = zoomed(near, whole, { factor: 0, around: 4000 });
    expect(closest.to - closest.from).toBe(20);
  });

  it('moves to its ends and stops there', () => {
    const near = { from: 3500, to: 8500 };
    expect(panned(near, whole, 0.2)).toEqual({ from: 4500, to: 9500 });
    expect(panned(near, whole, 9)).toEqual({ from: 6000, to: 11_000 });
    expect(panned(near, whole, -9)).toEqual({ from: 1000, to: 6000 });
    expect([isAll(near, whole), isAll(whole, whole)]).toEqual([false, true]);
  });

  it('has round times since the start of the run, however near it is', () => {
    expect(ticksOf({ from: 3500, to: 8500 }, 8, 1000)).toEqual([500, 1500, 2500, 3500, 4500]);
  });
});

describe('what is usual', () => {
  const usual: Usual = { node: 'n', runs: 12, took_ms: 1000, took_p95_ms: 2000, queued_ms: 1, began_ms: 1 };

  it('is told only where a step took much longer, and where enough runs are known', () => {
    expect(slownessOf(3000, usual)).toBe(3);
    expect(slownessOf(1900, usual)).toBeNull();
    expect(slownessOf(3000, { ...usual, runs: 2 })).toBeNull();
    expect(slownessOf(3000, undefined)).toBeNull();
    expect(slownessOf(120, { ...usual, took_ms: 20, took_p95_ms: 30 })).toBeNull(); // 0.1 s is nobody's time
  });
});
