import { describe, expect, it } from 'vitest';

import { ApiError } from '../../../api/errors';
import type { Operation } from '../../../api/recovery';
import type { ResumePreview } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import { heldNodes, toggled, toggledPath } from '../breakpoints';
import { possibleHands } from '../hands';
import { fieldSentences, readJson, writeJson } from '../json-text';
import { afterwards, changesBetween, confirmLabel, planSentence, planTitle } from '../plan-words';
import type { LiveStep } from '../reducer';

const recorder = new Recorder({ id: 'r', number: 1, ago_s: 60 });
const { graph } = recorder.state;
const fetch = recorder.state.steps.get('fetch') as LiveStep;

const preview = (more: Partial<ResumePreview> = {}): ResumePreview => ({
  ...{ kept: ['start'], again: ['fetch', 'parse'], effects: [], nodes: [], plan: 'p', saved_s: 0, child_runs: 0 },
  ...{ allowed: true, refusal: null, generation: 1 },
  ...more,
});

describe('what can be done to a step', () => {
  const offered = (step: Partial<LiveStep>, status: 'running' | 'failed' | 'cancelled' | 'cancelling' = 'failed') =>
    possibleHands({ ...fetch, ...step }, { status }).map(({ kind, reason }) => (reason ? `${kind}!` : kind));

  it.each([
    ['that failed', { status: 'failed' }, 'failed', ['edit_input', 'skip', 'supply_output', 'fork']],
    ['that waits for a retry', { status: 'retry_wait' }, 'running', ['retry_now', 'fork']],
    ['that is blocked', { status: 'blocked' }, 'running', ['skip', 'supply_output', 'fork']],
    ['that succeeded', { status: 'succeeded' }, 'failed', ['fork']],
    [
      'whose failure was handled',
      { status: 'failed', handled: 'port' },
      'running',
      ['edit_input!', 'skip!', 'supply_output!', 'fork'],
    ],
    ['of a cancelled run', { status: 'failed' }, 'cancelled', ['edit_input!', 'skip!', 'supply_output!', 'fork']],
    [
      'with items',
      { status: 'failed', map: { total: 3, opened: 3, settled: 3, failed: 1 } },
      'failed',
      ['edit_input!', 'skip', 'supply_output', 'fork'],
    ],
    ['while its run is being cancelled', { status: 'retry_wait' }, 'cancelling', ['retry_now!', 'fork']],
  ] as const)('%s', (_, step, status, expected) => {
    expect(offered(step, status)).toEqual(expected);
  });
});

describe('breakpoints', () => {
  const nodes = [
    { id: 'n1', key: 'fetch' },
    { id: 'n2', key: 'read' },
  ] as const;

  it('are those of a node and those of its step runs', () => {
    expect(heldNodes(nodes, [{ node: 'n1' }])).toEqual(new Set(['n1']));
    expect(heldNodes(nodes, [{ path: 'each[17].read' }])).toEqual(new Set(['n2']));
  });

  it('of one step run alone leave those of its node', () => {
    expect(toggledPath([{ node: 'n2' }], 'each[17].read')).toEqual([{ node: 'n2' }, { path: 'each[17].read' }]);
    expect(toggledPath([{ node: 'n2' }, { path: 'each[17].read' }], 'each[17].read')).toEqual([{ node: 'n2' }]);
  });

  it('are set on the node, and removed whichever way they were set; the others stay', () => {
    expect(toggled([{ node: 'n1' }], nodes[1])).toEqual([{ node: 'n1' }, { node: 'n2' }]);
    expect(toggled([{ node: 'n1' }, { path: 'each[17].read' }, { node: 'n2' }], nodes[1])).toEqual([{ node: 'n1' }]);
  });
});

describe('the words of a plan', () => {
  const name = '1 Fetch the batch';
  const operations: [Operation, string, string][] = [
    [{ kind: 'retry_now', path: 'fetch' }, 'retry', `Retry ${name} now`],
    [{ kind: 'skip', path: 'fetch' }, 'skip', `Skip ${name}`],
    [
      { kind: 'supply_output', path: 'fetch', output: 1, port: null },
      'supplied output',
      `Supply the output of ${name}`,
    ],
    [{ kind: 'edit_input', path: 'fetch', input: {} }, 'edited input', `Resume ${name} on this input`],
    [{ kind: 'decide', path: 'fetch', decision: 'not_happened', output: null }, 'decision', `Run ${name} again`],
    [{ kind: 'fork', path: 'fetch', version: 4, same_effects: false }, 'fork', `Start a new run from ${name}`],
  ];

  it.each(operations)('name the step and the outcome: %o', (operation, noun, label) => {
    expect(planTitle(operation)).toBe(`Plan of the ${noun}`);
    expect(confirmLabel(operation, preview(), graph)).toBe(label);
    expect(planSentence(preview(), graph, operation)).toMatch(/'1 Fetch the batch'.* Keeps 1 finished step and runs 2/);
  });

  it('promise no undo where there is none', () => {
    expect(afterwards({ kind: 'skip', path: 'fetch' })).toContain('no undo');
    expect(afterwards({ kind: 'decide', path: 'fetch', decision: 'happened', output: 1 })).toContain('no undo');
    expect(afterwards({ kind: 'resume' })).toBeNull();
  });

  it('say in what a plan differs from the one that was refused', () => {
    const now = preview({ generation: 2, again: ['parse', 'ocr_documents'], kept: ['start', 'fetch'] });
    expect(changesBetween(preview(), now, { graph, isRefused: true })).toBe(
      "Nothing was done, since meanwhile somebody resumed or mended the run; '3 Read each document' runs too now; " +
        "'1 Fetch the batch' runs no longer; '1 Fetch the batch' has finished. This is the plan now.",
    );
    expect(changesBetween(preview(), preview(), { graph, isRefused: false })).toBe(
      'Meanwhile the run went on. This is the plan now.',
    );
  });
});

describe('JSON by hand', () => {
  it('keeps integers of 64 bits, there and back', () => {
    const text = '{"n": 7615917337495251231}';
    expect(readJson(text)).toEqual({ value: { n: 7615917337495251231n }, problem: null });
    expect(writeJson(readJson(text).value)).toContain('7615917337495251231');
  });

  it('says what is wrong with it, and what the server says of its fields', () => {
    expect(readJson('{').problem).toMatch(/^This is not JSON/);
    expect(readJson(' ').problem).toMatch(/^Enter a JSON value/);
    const fields = [
      { field: 'input.url', message: 'is no address' },
      { field: 'input', message: 'is an object' },
    ];
    const refused = new ApiError({ code: 'bad_step_input', status: 400, detail: 'No.', data: { fields } });
    expect(fieldSentences(refused)).toEqual(['url: is no address', 'The input: is an object']);
    expect(fieldSentences(new Error('no'))).toEqual([]);
  });
});
