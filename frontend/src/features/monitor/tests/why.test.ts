import { describe, expect, it } from 'vitest';

import type { StepDetail, Usual } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import { failedRun, runningRun, waitingRun } from '../../../testing/world/runs';
import type { LiveStep } from '../reducer';
import { failuresBefore, stepsBefore, type Why, whyOf } from '../why';

const seed = { id: 'r', number: 1, ago_s: 600 };
const usual: Usual = {
  node: 'n',
  runs: 12,
  took_ms: 3_720_000,
  took_p95_ms: 9_000_000,
  queued_ms: 300,
  began_ms: 42_000,
};

function ask(run: Recorder, path: string, { change = {}, detail = {} }: { change?: object; detail?: object } = {}) {
  const found = run.state.steps.get(path);
  if (!found) throw new Error(`there is no step ${path}`);
  const step = { ...found, ...change } as LiveStep;
  const known = { why: null, waits: [], attempts: [], step, ...detail } as unknown as StepDetail;
  return whyOf(step, { state: run.state, detail: known, usual });
}

describe('why a step is not running', () => {
  it('names the steps that it waits for, since when, and when it usually begins', () => {
    const run = runningRun(seed);
    const why = ask(run, 'cross_reference');
    expect(why).toMatchObject<Partial<Why>>({
      sentence: "Waits for '3 Read each document' to end.",
      usual: 'it usually begins 42 s into the run',
      acts: [{ kind: 'go', path: 'ocr_documents' }],
    });
    expect(why?.since).toBe(run.run.started_at); // nothing before it is settled
    expect(ask(run, 'fetch')).toBeNull(); // it has ended
  });

  it('of a ready step is what the server knows, and a paused run can be continued', () => {
    const run = new Recorder(seed).step('start', 0.1);
    run.tell('step.ready', 'fetch');
    const detail = { why: "Ready: no worker serves the lane 'default'." };
    expect(ask(run, 'fetch', { detail })).toMatchObject({
      sentence: detail.why,
      usual: 'it usually waits 300 ms for one',
      acts: [],
    });
    run.tell('run.paused', null, { at: 'fetch', by: 'itself' });
    expect(ask(run, 'fetch')?.acts).toEqual([{ kind: 'continue' }]);
    run.tell('run.paused', null, { by: 'parent' });
    expect(ask(run, 'fetch')?.acts).not.toContainEqual({ kind: 'go', path: 'start' });
  });

  it('of a wait is since when it is open, and how long that usually takes', () => {
    const run = waitingRun(seed);
    const opened_at = '2026-03-04T12:00:00Z';
    const detail = { why: "Waits for a person's answer.", waits: [{ status: 'open', opened_at }] };
    expect(ask(run, 'review', { detail })).toMatchObject({ since: opened_at, usual: 'it usually takes 1 h 02 m' });
    const child = { id: 'run-2', number: 2 };
    const started = { ...detail, step: { child } };
    expect(ask(run, 'review', { change: { wait: 'child' }, detail: started })?.acts).toEqual([
      { kind: 'open_run', run: 'run-2', number: 2 },
    ]);
  });

  it('of a retry is the last failure', () => {
    const run = failedRun(seed);
    const detail = { attempts: [{ finished_at: '2026-03-04T12:00:00Z' }] };
    expect(ask(run, 'compliance', { change: { status: 'retry_wait' }, detail })).toMatchObject({
      since: '2026-03-04T12:00:00Z',
      acts: [],
    });
  });

  it('of what was not reached is the failure before it, however far before', () => {
    const run = failedRun(seed);
    for (const path of ['format', 'output']) {
      const why = ask(run, path);
      expect(why?.sentence).toBe("Not reached: '8 Compliance check' failed before it.");
      expect(why?.acts).toEqual([
        { kind: 'resume', path: 'compliance' },
        { kind: 'go', path: 'compliance' },
      ]);
      expect(why?.since).toBe(run.state.steps.get('compliance')?.finished_at);
    }
    expect(ask(run, 'rejected')).toBeNull(); // its branch was not taken: nothing holds it
    expect(ask(run, 'compliance')).toBeNull();
  });

  it('inside a container looks at the steps of the same item', () => {
    const run = runningRun(seed);
    const read = run.state.steps.get('ocr_documents[18].read');
    if (!read) throw new Error('no such item');
    expect(stepsBefore(run.state, read).map((one) => one.path)).toEqual(['ocr_documents[18].download']);
    expect(failuresBefore(run.state, read)).toEqual([]);
  });
});
