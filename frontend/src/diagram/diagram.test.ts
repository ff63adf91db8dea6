import { describe, expect, it } from 'vitest';
import { move, setName } from '../features/canvas/model/document';
import { draw } from '../features/canvas/testing/draw';
import { INVOICES, KINDS } from '../features/canvas/testing/handlers';
import { largeGraph } from '../features/canvas/testing/large-graph';
import { layOut, needsLayout } from './layout';
import { childrenByParent, portsById, sizesById } from './measure';
import { portsOf } from './ports';
import { STATUS_LOOKS } from './status';
import { createToFlow } from './to-flow';
import type { GraphDocument } from './types';

const NONE: ReadonlySet<string> = new Set();

describe('documents to React Flow', () => {
  it('keeps the identity of everything that did not change', () => {
    const toFlow = createToFlow();
    const first = toFlow(INVOICES, { kinds: KINDS }, NONE);
    expect(toFlow(INVOICES, { kinds: KINDS }, NONE)).toEqual(first);
    const renamed = setName(INVOICES, 'n_fetch', 'Other');
    const second = toFlow(renamed, { kinds: KINDS }, NONE);
    const changed = second.nodes.filter((node, at) => node !== first.nodes[at]).map((node) => node.id);
    expect(changed).toEqual(['n_fetch']);
    const told = second.edges.filter((edge, at) => edge !== first.edges[at]).map((edge) => edge.ariaLabel);
    expect(told).toEqual(['Edge from Start to Other', 'Edge from Other to 2 Parse and validate']);
  });

  it('keeps the data of a node that only moved', () => {
    const toFlow = createToFlow();
    const graph = draw('start > a');
    const [, before] = toFlow(graph, { kinds: KINDS }, NONE).nodes;
    const [, after] = toFlow(move(graph, new Map([['a', { x: 4, y: 4 }]])), { kinds: KINDS }, NONE).nodes;
    expect(after?.position).toEqual({ x: 4, y: 4 });
    expect(after?.data.description).toBe(before?.data.description);
    expect(after?.data.ports).toEqual(before?.data.ports);
  });

  it('puts a container before its body, and leaves out edges without an end', () => {
    const graph = draw('each/x\neach > end', { each: 'map' });
    const torn = { ...graph, edges: [...graph.edges, { id: 'torn', source: 'x', source_port: 'out', target: 'gone' }] };
    const { nodes, edges } = createToFlow()(torn, { kinds: KINDS }, NONE);
    expect(nodes.map((node) => node.id).indexOf('each')).toBeLessThan(nodes.map((node) => node.id).indexOf('x'));
    expect(edges.map((edge) => edge.id)).not.toContain('torn');
  });

  it('selects by id', () => {
    const { nodes } = createToFlow()(draw('start > a'), { kinds: KINDS }, new Set(['a']));
    expect(nodes.map((node) => node.selected)).toEqual([false, true]);
  });
});

interface Box {
  key: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

const apart = (a: Box, b: Box): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

function overlapping(graph: GraphDocument): string[] {
  const children = childrenByParent(graph);
  const sizes = sizesById(KINDS, { children, ports: portsById(graph, KINDS) });
  return [...children.values()].flatMap((level) => {
    const boxes = level.map(
      ({ id, key, position }): Box => ({ key, ...position, ...(sizes.get(id) ?? { width: 0, height: 0 }) }),
    );
    return boxes.flatMap((box, at) =>
      boxes
        .slice(at + 1)
        .filter((other) => !apart(box, other))
        .map((other) => `${box.key} on ${other.key}`),
    );
  });
}

describe('layout', () => {
  it.each([
    ['the sample', INVOICES],
    ['a branch', draw('start > b\nb -true> x > end\nb -false> y > end', { b: 'branch' })],
    ['nested bodies', draw('start > each\neach/inner\ninner/x > inner/y', { each: 'map', inner: 'map' })],
    ['200 steps', largeGraph(200)],
  ])('lets no two nodes of %s overlap', (_, graph) => {
    expect(overlapping(layOut(graph, KINDS))).toEqual([]);
  });

  it('keeps the branches in the order of their ports', () => {
    const placed = layOut(draw('b -false> y\nb -true> x', { b: 'branch' }), KINDS);
    const y = (id: string) => placed.nodes.find((node) => node.id === id)?.position.y ?? 0;
    expect(y('x')).toBeLessThan(y('y'));
  });

  it('goes on in a new row instead of one endless line', () => {
    const chain = ['start', ...Array.from({ length: 11 }, (_, at) => `s${at}`)].join(' > ');
    const placed = layOut(draw(chain), KINDS);
    expect(Math.max(...placed.nodes.map((node) => node.position.x))).toBeLessThan(1100);
    expect(new Set(placed.nodes.map((node) => node.position.y)).size).toBeGreaterThan(2);
  });

  it('is needed only where nodes lie on each other', () => {
    expect(needsLayout(INVOICES)).toBe(true);
    expect(needsLayout(layOut(INVOICES, KINDS))).toBe(false);
  });
});

it('no edge loses its port: used ones are shown even where nobody knows them', () => {
  const leaving = [{ id: 'e', source: 'a', source_port: 'old', target: 'b' }];
  expect(portsOf(undefined, { leaving }).map((port) => port.name)).toEqual(['out', 'old']);
  expect(portsOf(KINDS.get('branch'), {}).map((port) => port.name)).toEqual(['true', 'false']);
});

it('every status has a word of its own', () => {
  const words = Object.values(STATUS_LOOKS).map((look) => look.word);
  expect(new Set(words).size).toBe(words.length);
});
