import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../diagram';
import { draw, edgesOf } from '../testing/draw';
import { KINDS } from '../testing/handlers';
import { applyFix, type FixAct } from './fix';
import { nodeOf } from './walk';

const mend = (graph: ReturnType<typeof draw>, ...acts: FixAct[]) => applyFix(graph, { title: 'Mend', acts }, KINDS);
const withConfig = (graph: ReturnType<typeof draw>, id: string, config: JsonObject) => ({
  ...graph,
  nodes: graph.nodes.map((node) => (node.id === id ? { ...node, config } : node)),
});

describe('a fix', () => {
  it('connects a step that nothing leads to', () => {
    const graph = mend(draw('start > a\nb'), { act: 'connect', node: 'a', port: 'out', target: 'b' });
    expect(edgesOf(graph ?? draw(''))).toEqual(['a > b', 'start > a']);
  });

  it('adds a start on the left of the first step', () => {
    const graph = mend(draw('a > b'), { act: 'add_start', value: 'start', target: 'a' });
    expect(graph?.nodes.at(-1)).toMatchObject({ kind: 'start', key: 'start', position: { x: -256, y: 0 } });
    expect(edgesOf(graph ?? draw(''))).toContain('start > a');
  });

  it('deletes edges, and steps so that the way goes on', () => {
    const graph = draw('start > a > b');
    expect(edgesOf(mend(graph, { act: 'delete_edge', edge: 'a-out-b' }) ?? graph)).toEqual(['start > a']);
    expect(edgesOf(mend(graph, { act: 'delete_step', node: 'a' }) ?? graph)).toEqual(['start > b']);
  });

  it('moves an edge to a port that is there', () => {
    const graph = draw('start > if\nif -tru> b', { if: 'branch' });
    expect(edgesOf(mend(graph, { act: 'move_edge', edge: 'if-tru-b', port: 'true' }) ?? graph)).toContain(
      'if -true> b',
    );
  });

  it('lets one of two equal steps stand for both', () => {
    const graph = withConfig(draw('start > a > end\nstart > b > end'), 'end', { value: '{{ steps.b.output.x }}' });
    const merged = mend(graph, { act: 'merge', node: 'b', target: 'a' });
    expect(merged && edgesOf(merged)).toEqual(['a > end', 'start > a']);
    expect(merged && nodeOf(merged, 'end')?.config).toEqual({ value: '{{ steps.a.output.x }}' });
  });

  it('sets keys, kinds, settings and policies, and takes them away', () => {
    const graph = withConfig(draw('start > a'), 'a', { z: 1 });
    expect(mend(graph, { act: 'set', node: 'a', field: 'key', was: 'a', value: 'b' })?.nodes[1]?.key).toBe('b');
    expect(mend(graph, { act: 'set', node: 'a', field: 'kind', value: 'fail' })?.nodes[1]?.config).toEqual({ z: 1 });
    expect(mend(graph, { act: 'set', node: 'a', field: 'window', value: 8 })?.nodes[1]?.config).toEqual({
      z: 1,
      window: 8,
    });
    const set = mend(graph, { act: 'set', node: 'a', field: 'policy.join', value: 'all' });
    expect(set?.nodes[1]?.policy).toEqual({ join: 'all' });
    expect(mend(set ?? graph, { act: 'unset', node: 'a', field: 'policy.join' })?.nodes[1]?.policy).toEqual({});
    expect(mend(graph, { act: 'unset', node: 'a', field: 'z' })?.nodes[1]?.config).toEqual({});
    const lost = { ...graph, nodes: graph.nodes.map((node) => ({ ...node, parent: 'gone' })) };
    expect(mend(lost, { act: 'move_out', node: 'a' })?.nodes[1]?.parent).toBeNull();
  });

  it('rewrites a text wherever it stands in the step', () => {
    const graph = withConfig(draw('start > a'), 'a', { body: { lines: ['{{ steps.fech }}', 'x'] } });
    const act: FixAct = { act: 'rewrite', node: 'a', was: '{{ steps.fech }}', value: '{{ steps.fetch }}' };
    expect(mend(graph, act)?.nodes[1]?.config).toEqual({ body: { lines: ['{{ steps.fetch }}', 'x'] } });
  });

  it.each<FixAct>([
    { act: 'rewrite', node: 'a', was: 'other', value: 'x' },
    { act: 'set', node: 'a', field: 'key', was: 'other', value: 'b' },
    { act: 'set', node: 'gone', field: 'url', value: 'b' },
    { act: 'unset', node: 'a', field: 'url' },
    { act: 'unset', node: 'gone', field: 'url' },
    { act: 'delete_edge', edge: 'gone' },
    { act: 'move_edge', edge: 'gone', port: 'out' },
    { act: 'connect', node: 'a', port: 'out', target: 'start' },
    { act: 'add_start', value: 'start', target: 'gone' },
    { act: 'merge', node: 'a', target: 'gone' },
    { act: 'of_a_later_server' as 'set', node: 'a' },
  ])('leaves alone what has changed since the check: $act', (act) => {
    expect(mend(draw('start > a'), { act: 'set', node: 'a', field: 'x', value: 1 }, act)).toBeNull();
  });
});
