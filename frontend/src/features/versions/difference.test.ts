import { describe, expect, it } from 'vitest';

import type { GraphDocument, GraphNode } from '../../diagram';
import { countsOf, differenceOf, fieldsOf, marksOf, unionOf } from './difference';

const node = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  key: id,
  name: id.toUpperCase(),
  kind: 'http_request',
  config: {},
  policy: {},
  parent: null,
  position: { x: 0, y: 0 },
  ...more,
});
const edge = (source: string, target: string, source_port = 'out') => ({
  id: `${source}-${source_port}-${target}`,
  source,
  source_port,
  target,
});
const graph = (nodes: GraphNode[], edges: ReturnType<typeof edge>[] = []): GraphDocument => ({
  schema: 1,
  nodes,
  edges,
});
const paths = (before: GraphNode | null, after: GraphNode) => fieldsOf(before, after).map((one) => [one.path, one.how]);

describe('the difference of two graphs', () => {
  it('names what was added, removed and changed, with its fields', () => {
    const before = graph([node('a'), node('b', { config: { url: '/x' } })], [edge('a', 'b')]);
    const after = graph([node('b', { config: { url: '/y' } }), node('c')], [edge('b', 'c')]);
    const found = differenceOf(before, after);
    expect(found.steps.map((one) => [one.node.id, one.how, one.fields])).toEqual([
      ['b', 'changed', [{ path: 'config.url', how: 'changed', before: '/x', after: '/y' }]],
      ['c', 'added', []],
      ['a', 'removed', []],
    ]);
    expect(found.edges.map((one) => [one.edge.id, one.how])).toEqual([
      ['b-out-c', 'added'],
      ['a-out-b', 'removed'],
    ]);
    expect(countsOf(found)).toEqual({ added: 1, removed: 1, changed: 1, edges: 2 });
  });

  it('takes a step that only moved, and an edge that was drawn again, for the same', () => {
    const before = graph([node('a'), node('b')], [edge('a', 'b')]);
    const after = graph(
      [node('b'), node('a', { position: { x: 500, y: 9 } })],
      [{ ...edge('a', 'b'), id: 'another id' }],
    );
    expect(differenceOf(before, after)).toEqual({ steps: [], edges: [] });
  });

  it('goes down to the field that differs, in lists of one length and in objects of any', () => {
    const before = node('a', { config: { headers: { a: 1, b: 2 }, lines: ['x', 'y'], big: 9007199254740993n } });
    const after = node('a', {
      name: 'Other',
      config: { headers: { b: 3, c: null }, lines: ['x', 'z'], big: 9007199254740993n },
      policy: { retry: { attempts: 3 } },
    });
    expect(paths(before, after)).toEqual([
      ['name', 'changed'],
      ['config.headers.a', 'removed'],
      ['config.headers.b', 'changed'],
      ['config.headers.c', 'added'],
      ['config.lines[1]', 'changed'],
      ['policy.retry', 'added'],
    ]);
  });

  it('shows a list whose length changed as a whole, and a move into a container', () => {
    const before = node('a', { config: { lines: ['x'] } });
    const after = node('a', { config: { lines: ['x', 'y'] }, parent: 'each' });
    expect(fieldsOf(before, after)).toEqual([
      { path: 'parent', how: 'added', before: undefined, after: 'each' },
      { path: 'config.lines', how: 'changed', before: ['x'], after: ['x', 'y'] },
    ]);
  });

  it('tells of a new step all that it says', () => {
    expect(paths(null, node('a', { config: { url: '/x' } }))).toEqual([
      ['name', 'added'],
      ['key', 'added'],
      ['kind', 'added'],
      ['config.url', 'added'],
    ]);
  });
});

describe('the union of two graphs', () => {
  it('keeps what was taken out, beside what took its place', () => {
    const before = graph([node('a'), node('old', { position: { x: 300, y: 0 } })], [edge('a', 'old')]);
    const after = graph([node('a'), node('new', { position: { x: 310, y: 10 } })], [edge('a', 'new')]);
    const union = unionOf(before, after);
    expect(union.nodes.map((one) => one.id)).toEqual(['a', 'new', 'old']);
    expect(union.nodes[2]?.position.y).toBeGreaterThanOrEqual(74);
    expect([...marksOf(differenceOf(before, after), union)].sort()).toEqual([
      ['a-out-new', 'added'],
      ['a-out-old', 'removed'],
      ['new', 'added'],
      ['old', 'removed'],
    ]);
  });

  it('tells an edge that moved to another port from the one that it was', () => {
    const before = graph([node('a'), node('b')], [{ ...edge('a', 'b', 'true'), id: 'e' }]);
    const after = graph([node('a'), node('b')], [{ ...edge('a', 'b', 'false'), id: 'e' }]);
    const union = unionOf(before, after);
    expect(union.edges.map((one) => one.id)).toEqual(['e', 'was e']);
    expect([...marksOf(differenceOf(before, after), union).values()]).toEqual(['added', 'removed']);
  });
});
