import { describe, expect, it } from 'vitest';

import type { ResumePreview } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import {
  brokenMapRun,
  cancelledRun,
  failedRun,
  runningRun,
  succeededRun,
  undecidedRun,
  waitingRun,
} from '../../../testing/world/runs';
import { helpFor } from '../error-help';
import { groupItems } from '../items';
import { marksOf } from '../marks';
import { nodeStatus, shownStatus, statusSentence, stepOfNode } from '../node-status';
import { itemOf, readPath } from '../paths';
import { effectsOf, firstAgain, planSentence } from '../plan-words';
import { headSentence, isActive, nameOf, progressOf } from '../summary';
import { groupLanes, lanesOf, ticksOf } from '../timeline';

const seed = { id: 'r', number: 1, ago_s: 600 };
const graph = new Recorder(seed).state.graph;

function preview(more: Partial<ResumePreview> = {}): ResumePreview {
  return {
    kept: ['fetch', 'ocr_documents'],
    again: ['format', 'compliance'],
    effects: [],
    nodes: [],
    plan: 'plan-1',
    saved_s: 192,
    child_runs: 0,
    allowed: true,
    refusal: null,
    generation: 1,
    ...more,
  };
}

describe('the head says what happened', () => {
  it.each([
    ['failed', failedRun(seed), /^Failed at '8 Compliance check': PolicyServiceUnavailable/],
    ['succeeded', succeededRun(seed), /^Finished in 2 m 34 s; 1 step left out\.$/],
    [
      'waiting for a person',
      waitingRun(seed),
      /^'6 Review' waits for a person; no worker is held\. 6 of 15 steps done\.$/,
    ],
    ['running a map', runningRun(seed), /^'3 Read each document': 17 of 40 items done\. 3 of 15 steps done\.$/],
    ['of unknown outcome', undecidedRun(seed), /^Nobody knows whether '11 Notify' took effect\./],
    ['cancelled', cancelledRun(seed), /^Cancelled after 3 of 15 steps\./],
    ['failed in a map', brokenMapRun(seed), /^Failed at '3 Read each document': 3 of 40 items failed\.$/],
  ])('of a run that is %s', (_, run, sentence) => {
    expect(headSentence(run.state)).toMatch(sentence);
  });

  it('of a run that goes on only when its failed branch is resumed', () => {
    const run = new Recorder(seed).step('start', 0.1).begin('fetch');
    run.tell('step.failed', 'fetch', { error: { code: 'x', message: 'y' } });
    run.tell('step.blocked', 'parse', { reason: 'upstream_failed' });
    expect(isActive(run.state)).toBe(false);
    expect(headSentence(run.state)).toContain('nothing else can go on until it is resumed');
  });

  it.each([
    [['Ana', {}], /^Paused by Ana: nothing new starts until you continue\. '1 Fetch the batch' runs on to its end\.$/],
    [['system', { at: 'parse' }], /^Paused by a breakpoint before '.*': nothing new starts/],
  ] as const)('of a paused run: by whom, and what runs on to its end', ([actor, data], sentence) => {
    const run = new Recorder(seed).step('start', 0.1).begin('fetch');
    run.actor = actor;
    run.tell('run.paused', null, data);
    expect(headSentence(run.state)).toMatch(sentence);
  });

  it('and what was skipped because of a failure does not count as done', () => {
    expect(progressOf(failedRun(seed).state)).toEqual({ done: 9, total: 15 });
  });
});

describe('the plan of a resume', () => {
  it('is said in one sentence that begins where the graph begins', () => {
    expect(firstAgain(preview(), graph)).toBe('compliance');
    expect(planSentence(preview(), graph)).toBe(
      "Keeps 2 finished steps and runs 2, from '8 Compliance check' on. Saves 3 m 12 s.",
    );
  });

  it('names what may take effect twice, and calms where the key is the same', () => {
    const effect = (may_happen_twice: boolean) => ({ path: 'notify', delivery: 'at_least_once', may_happen_twice });
    expect(effectsOf(preview({ effects: [effect(true)] }), graph)).toEqual({
      isRisky: true,
      sentence: "May take effect twice: '11 Notify'.",
    });
    expect(effectsOf(preview({ effects: [effect(false)] }), graph).sentence).toBe(
      "'11 Notify' acts outside, with the same key as before.",
    );
    expect(effectsOf(preview(), graph)).toEqual({ isRisky: false, sentence: 'Nothing of it acts outside again.' });
  });

  it('marks each node by the riskiest of what happens to it, and a body like its container', () => {
    const effects = [{ path: 'compliance', delivery: 'at_least_once', may_happen_twice: true }];
    const marks = marksOf(preview({ effects }), { graph });
    expect(marks.get('n_fetch')).toBe('kept');
    expect(marks.get('n_format')).toBe('again');
    expect(marks.get('n_compliance')).toBe('effect');
    expect(marks.get('n_read')).toBe('kept');
    expect(marks.has('n_notify')).toBe(false);
  });

  it('shows a container as run again where one of its items is', () => {
    const marks = marksOf(preview({ kept: ['ocr_documents'], again: ['ocr_documents[6].read'] }), { graph });
    expect(marks.get('n_read')).toBe('again');
    expect(marks.get('n_ocr_documents')).toBe('again');
  });
});

describe('what a node shows', () => {
  it('is the same object while its step is the same', () => {
    const { state } = failedRun(seed);
    const step = state.steps.get('fetch');
    if (!step) throw new Error('no such step');
    expect(nodeStatus(step)).toBe(nodeStatus(step));
    expect(nodeStatus(step)).toMatchObject({ status: 'succeeded', detail: '1.2 s' });
    expect(nodeStatus({ ...step, attempt: 2 }).detail).toBe('attempt 2 · 1.2 s');
  });

  it('of a container that works on its items is running, with their counts', () => {
    const map = runningRun(seed).state.steps.get('ocr_documents');
    if (!map) throw new Error('no such step');
    expect(shownStatus(map)).toBe('running');
    expect(nodeStatus(map).progress).toEqual({ settled: 17, total: 40, failed: 0 });
  });

  it('in a container is the chosen item, else the most urgent one', () => {
    const { state } = brokenMapRun(seed);
    const node = graph.nodes.find((one) => one.key === 'read');
    if (!node) throw new Error('no such node');
    expect(stepOfNode(state, node, null)?.path).toBe('ocr_documents[6].read');
    expect(stepOfNode(state, node, 'ocr_documents[3]')?.path).toBe('ocr_documents[3].read');
  });
});

describe('the timeline', () => {
  it('has attempts side by side with the wait between them', () => {
    const lane = lanesOf(failedRun(seed).events).get('compliance');
    expect(lane?.segments.map(({ kind, attempt, outcome }) => [kind, attempt, outcome])).toEqual([
      ['running', 1, 'failed'],
      ['pause', 1, undefined],
      ['running', 2, 'failed'],
    ]);
  });

  it('leaves open what goes on, and puts items below their container', () => {
    const groups = groupLanes(lanesOf(runningRun(seed).events));
    const map = groups.find((group) => group.path === 'ocr_documents');
    expect(map?.segments.at(-1)).toMatchObject({ kind: 'items', to: null });
    expect(map?.items).toHaveLength(17 * 3 + 4 * 2);
    expect(groups.some((group) => group.path.includes('['))).toBe(false);
  });

  it('has at most eight ticks or so at round moments', () => {
    expect(ticksOf({ from: 0, to: 164_000 })).toEqual([0, 30_000, 60_000, 90_000, 120_000, 150_000]);
    expect(ticksOf({ from: 0, to: 1 }).length).toBeLessThan(12);
    expect(ticksOf({ from: 0, to: 40 * 86_400_000 }).length).toBeLessThan(12);
  });
});

describe('loops, tries and runs inside runs', () => {
  const told = (kind: string, data: Record<string, string | number>) => {
    const run = new Recorder(seed).step('start', 0.1).begin('fetch');
    run.tell('step.waiting', 'fetch', data);
    const step = run.state.steps.get('fetch');
    if (!step) throw new Error('no such step');
    return statusSentence({ ...step, kind });
  };

  it('say what they wait for', () => {
    expect(told('loop', { wait: 'children', total: 5 })).toMatch('of at most 5');
    expect(told('try_block', { wait: 'children', total: 1 })).toBe('Works on the steps inside.');
    expect(told('run_workflow', { wait: 'child' })).toMatch('Waits for the run that it has started');
  });

  it('count a loop that has ended by the rounds that it had', () => {
    const run = new Recorder(seed).step('start', 0.1).begin('fetch');
    run.tell('step.waiting', 'fetch', { wait: 'children', total: 9 });
    run.tell('map.progress', 'fetch', { total: 9, opened: 2, settled: 2, failed: 0 });
    run.tell('step.succeeded', 'fetch', { port: 'out', origin: 'executed', total: 2, failed: 0 });
    expect(run.state.steps.get('fetch')?.map).toEqual({ total: 2, opened: 2, settled: 2, failed: 0 });
  });
});

describe('paths, items and errors', () => {
  it('are read from the right, so that containers nest', () => {
    expect(readPath('fetch')).toEqual({ key: 'fetch', parent: null, index: null });
    expect(readPath('each[17].inner[3].ocr')).toEqual({ key: 'ocr', parent: 'each[17].inner', index: 3 });
    expect(itemOf('each[17].ocr')).toBe('each[17]');
    expect(itemOf('fetch')).toBeNull();
    expect(nameOf(graph, 'ocr_documents[2].read')).toBe('Read the text (item 2)');
    const inside = (kind: string) => ({
      ...graph,
      nodes: graph.nodes.map((node) => (node.key === 'ocr_documents' ? { ...node, kind } : node)),
    });
    expect(nameOf(inside('loop'), 'ocr_documents[2].read')).toBe('Read the text (round 2)');
    expect(nameOf(inside('try_block'), 'ocr_documents[0].read')).toBe('Read the text');
  });

  it('show failed items first, then those under way, then by number', () => {
    const failed = groupItems([...brokenMapRun(seed).state.steps.values()]);
    expect(failed.slice(0, 4).map((item) => item.index)).toEqual([6, 22, 31, 0]);
    const running = groupItems([...runningRun(seed).state.steps.values()]);
    expect(running.slice(0, 5).map((item) => item.index)).toEqual([17, 18, 19, 20, 0]);
  });

  it('are explained by their code, else by their words, else plainly', () => {
    expect(helpFor({ code: 'timed_out', message: '' }).meaning).toContain('time limit');
    expect(helpFor({ code: 'http_503', message: '' }).meaning).toContain('other side');
    expect(helpFor({ code: 'odd', message: 'connection refused' }).meaning).toContain('other side');
    expect(helpFor({ code: 'odd', message: 'no idea' }).advice).toContain('resume');
  });
});
