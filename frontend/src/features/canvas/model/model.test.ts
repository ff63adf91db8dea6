import { describe, expect, it } from 'vitest';

import { draw, edgesOf } from '../testing/draw';
import { INVOICES, KINDS } from '../testing/handlers';
import { copy, paste, readClip, writeClip } from './clipboard';
import { differenceOf, sameGraph } from './difference';
import { EMPTY, setConfig } from './document';
import { NO_HISTORY, record, redo, undo } from './history';
import { uniqueKey, whyNotKey } from './keys';
import { outlineOf } from './outline';
import { containerAt } from './places';
import { retryInWords, tidyPolicy } from './policy';
import { freePlace, makeRoom, neighbour } from './room';
import { upstreamOf } from './walk';

describe('the clipboard', () => {
  const graph = setConfig(draw('start > fetch > parse > end', { parse: 'set_fields' }), 'parse', {
    fields: { x: '{{ steps.fetch.output }}', y: '{{ steps.start.output }}' },
  });

  it('is plain JSON that another tab can read', () => {
    const clip = copy(graph, ['fetch', 'parse']);
    expect(clip && readClip(writeClip(clip))).toEqual(clip);
  });

  it('gives new ids and keys, and references among the copies follow', () => {
    const clip = copy(graph, ['fetch', 'parse']);
    if (!clip) throw new Error('nothing copied');
    const { document, ids } = paste(graph, clip, { kinds: KINDS });
    expect(ids).toHaveLength(2);
    expect(edgesOf(document)).toContain('fetch_2 > parse_2');
    expect(document.nodes.find((node) => node.key === 'parse_2')?.config).toEqual({
      fields: { x: '{{ steps.fetch_2.output }}', y: '{{ steps.start.output }}' },
    });
  });

  it('keeps links to the outside only when asked', () => {
    const clip = copy(graph, ['parse']);
    if (!clip) throw new Error('nothing copied');
    expect(edgesOf(paste(graph, clip, { kinds: KINDS }).document)).toHaveLength(3);
    expect(edgesOf(paste(graph, clip, { kinds: KINDS, keepOutside: true }).document)).toContain('fetch > parse_2');
  });

  it('reads neither other JSON nor words', () => {
    for (const text of ['', 'hello', '{}', '[1]', '{"pawl": 1, "nodes": []}', '{"nodes": [{"id": 1}]}'])
      expect(readClip(text)).toBeNull();
  });

  it('takes a whole graph document too', () => {
    expect(readClip(JSON.stringify(INVOICES))?.nodes).toHaveLength(INVOICES.nodes.length);
  });
});

describe('history', () => {
  const moment = (key: string) => ({ document: draw(key), selection: new Set<string>() });

  it('gathers typing in one field, and begins anew after a pause or in another field', () => {
    const typing = (topic: string, now: number) => ({
      label: 'Set url',
      policy: { kind: 'typing', topic } as const,
      before: moment('a'),
      now,
    });
    let history = NO_HISTORY;
    for (const now of [0, 300, 900]) history = record(history, typing('url', now));
    expect(history.past).toHaveLength(1);
    history = record(history, typing('url', 2500));
    history = record(history, typing('body', 2600));
    expect(history.past).toHaveLength(3);
  });

  it('never keeps what came from the server', () => {
    expect(record(NO_HISTORY, { label: '', policy: { kind: 'never' }, before: moment('a'), now: 0 })).toBe(NO_HISTORY);
  });

  it('goes back and forth to the same documents, and forgets the future after a new change', () => {
    const [a, b, c] = [moment('a'), moment('b'), moment('c')];
    const step = { label: 'x', policy: { kind: 'step' } as const, now: 0 };
    const history = record(record(NO_HISTORY, { ...step, before: a }), { ...step, before: b });
    const back = undo(history, c);
    expect(back?.moment.document).toBe(b.document);
    expect(redo(back?.history ?? NO_HISTORY, b)?.moment.document).toBe(c.document);
    expect(redo(record(back?.history ?? NO_HISTORY, { ...step, before: b }), b)).toBeNull();
    expect(undo(NO_HISTORY, a)).toBeNull();
  });
});

describe('keys', () => {
  it('come out of any name', () => {
    expect(uniqueKey('Fetch the batch!', new Set())).toBe('Fetch_the_batch');
    expect(uniqueKey('3 reads', new Set())).toBe('_3_reads');
    expect(uniqueKey('日本', new Set())).toBe('step');
    expect(uniqueKey('run', new Set())).not.toBe('run');
    expect(uniqueKey('a_2', new Set(['a_2']))).toBe('a_3');
  });

  it('say why they cannot be', () => {
    expect(whyNotKey('ok', new Set())).toBeNull();
    expect(whyNotKey('ok', new Set(['ok']))).toMatch('Another step');
  });
});

describe('places', () => {
  it('finds a free spot below a taken one', () => {
    const graph = draw('a');
    expect(freePlace(graph, { x: 0, y: 0 }, null).y).toBeGreaterThan(56);
  });

  it('makes room in an edge by moving what follows, and nothing else', () => {
    const graph = draw('start > a > b');
    const roomy = makeRoom(graph, 'start-out-a');
    expect(roomy.nodes.map((node) => node.position.x)).toEqual([0, 512, 768]);
    expect(roomy.nodes[0]).toBe(graph.nodes[0]);
  });

  it('knows the innermost container at a point', () => {
    const graph = draw('each\neach/x', { each: 'map' });
    expect(containerAt(graph, { x: 20, y: 20 }, KINDS)).toBe('each');
    expect(containerAt(graph, { x: -20, y: 20 }, KINDS)).toBeNull();
    expect(containerAt(graph, { x: 20, y: 20 }, KINDS, new Set(['each']))).toBeNull();
  });

  it('walks along edges with arrows, and in and out of a container', () => {
    const graph = draw('start > each\neach/x', { each: 'map' });
    expect(neighbour(graph, 'start', 'right', KINDS)).toBe('each');
    expect(neighbour(graph, 'each', 'left', KINDS)).toBe('start');
    expect(neighbour(graph, 'each', 'right', KINDS)).toBe('x');
    expect(neighbour(graph, 'x', 'left', KINDS)).toBe('each');
    expect(neighbour(graph, 'start', 'up', KINDS)).toBeNull();
  });
});

it('what lies before a step includes what lies before its container', () => {
  const graph = draw('start > fetch > each > end\neach/x > each/y', { each: 'map' });
  expect(upstreamOf(graph, 'y').map((node) => node.key)).toEqual(['start', 'fetch', 'x']);
});

it('the outline follows the run, with bodies below their containers', () => {
  const graph = draw('each > end\nstart > each\neach/x', { each: 'map' });
  expect(outlineOf(graph).map(({ node, depth }) => `${depth}${node.key}`)).toEqual(['0start', '0each', '1x', '0end']);
});

it('two graphs are the same whatever the order of nodes, edges and fields', () => {
  const mixed = { ...INVOICES, nodes: [...INVOICES.nodes].reverse(), edges: [...INVOICES.edges].reverse() };
  expect(sameGraph(INVOICES, mixed)).toBe(true);
  expect(sameGraph(INVOICES, EMPTY)).toBe(false);
  expect(differenceOf(draw('start > a'), draw('start > a > b'))).toBe('1 step added, 1 edge added');
});

describe('policies', () => {
  it('leave out what says nothing', () => {
    expect(
      tidyPolicy({ on_error: 'fail', queue: 'default', retry: { attempts: 1 }, fallback: 3, limit_s: undefined }),
    ).toEqual({});
    expect(tidyPolicy({ on_error: 'fallback' })).toEqual({ on_error: 'fallback', fallback: null });
    expect(tidyPolicy({ skip_if: '', idle_limit_s: null, queue_limit_s: 5 })).toEqual({ queue_limit_s: 5 });
    expect(tidyPolicy({ join: 'all', join_count: 3 })).toEqual({});
    expect(tidyPolicy({ join: 'count' })).toEqual({ join: 'count', join_count: 2 });
    expect(tidyPolicy({ limit_key: '', limit_at_most: 3, rate_starts: 2 })).toEqual({});
    expect(tidyPolicy({ limit_key: 'erp', rate_per_s: 60 })).toEqual({ limit_key: 'erp', rate_per_s: 60 });
    expect(tidyPolicy({ join: 'first', join_count: 3 })).toEqual({ join: 'first' });
    expect(tidyPolicy({ retry: { attempts: 3 }, limit_s: 5 })).toEqual({ retry: { attempts: 3 }, limit_s: 5 });
  });

  it('say their pauses', () => {
    expect(retryInWords({ attempts: 3, first_delay_s: 1, factor: 2 })).toMatch('1 s, 2 s');
    expect(retryInWords(undefined)).toMatch('once');
  });
});
