import { describe, expect, it } from 'vitest';

import type { GraphDocument } from '../../../diagram';
import { draw, edgesOf } from '../testing/draw';
import { KINDS } from '../testing/handlers';
import { chance } from '../testing/random';
import { copy, paste } from './clipboard';
import {
  addNode,
  connect,
  EMPTY,
  move,
  moveInto,
  reconnect,
  remove,
  removeAndBridge,
  renameKey,
  replaceKind,
  setConfig,
  setPolicy,
  splice,
} from './document';
import { reachable } from './walk';

const keysIn = (graph: GraphDocument) => graph.nodes.map((node) => node.key);

describe('adding', () => {
  it('gives each step a key of its own', () => {
    let graph = EMPTY;
    for (const id of ['a', 'b', 'c']) graph = addNode(graph, { id, kind: 'http_request', position: { x: 0, y: 0 } });
    expect(keysIn(graph)).toEqual(['http_request', 'http_request_2', 'http_request_3']);
  });

  it('puts a step outside where its container does not exist', () => {
    expect(
      addNode(EMPTY, { id: 'a', kind: 'ocr', position: { x: 0, y: 0 }, parent: 'gone' }).nodes[0]?.parent,
    ).toBeNull();
  });
});

describe('connecting', () => {
  it('refuses what cannot be, and keeps the document as it is', () => {
    const graph = draw('start > a > b', {});
    const inside = { ...draw('start > each\neach/x > each/y', { each: 'map' }) };
    const refused: [GraphDocument, string, string][] = [
      [graph, 'a', 'a'],
      [graph, 'b', 'a'],
      [graph, 'start', 'a'],
      [graph, 'b', 'start'],
      [graph, 'a', 'nowhere'],
      [inside, 'start', 'x'],
      [inside, 'each', 'x'],
    ];
    for (const [one, source, target] of refused) expect(connect(one, { source, port: 'out', target }, KINDS)).toBe(one);
  });

  it('lets two ports of one step lead to the same step', () => {
    const graph = connect(
      draw('review -approved> pay', { review: 'approval' }),
      { source: 'review', port: 'rejected', target: 'pay' },
      KINDS,
    );
    expect(edgesOf(graph)).toEqual(['review -approved> pay', 'review -rejected> pay']);
  });

  it('moves an end of an edge and keeps its id', () => {
    const graph = draw('start > a\nstart > b');
    const moved = reconnect(graph, 'start-out-a', { source: 'b', port: 'out', target: 'a' }, KINDS);
    expect(moved.edges.map((edge) => edge.id)).toEqual(['start-out-a', 'start-out-b']);
    expect(edgesOf(moved)).toEqual(['b > a', 'start > b']);
  });
});

describe('removing', () => {
  it('takes the edges of a step along, and the body of a container', () => {
    const graph = draw('start > each > end\neach/x > each/y', { each: 'map' });
    const left = remove(graph, ['each']);
    expect(keysIn(left)).toEqual(['start', 'end']);
    expect(left.edges).toEqual([]);
  });

  it('bridges what came before with what follows, by the port of the edge before', () => {
    const graph = draw('review -approved> check > pay\ncheck > log', { review: 'approval' });
    expect(edgesOf(removeAndBridge(graph, ['check'], KINDS))).toEqual([
      'review -approved> log',
      'review -approved> pay',
    ]);
  });

  it('bridges over a chain of removed steps', () => {
    expect(edgesOf(removeAndBridge(draw('start > a > b > end'), ['a', 'b'], KINDS))).toEqual(['start > end']);
  });

  it('does not bridge from an error port', () => {
    expect(edgesOf(removeAndBridge(draw('start > a\na -error> mend'), ['a'], KINDS))).toEqual([]);
  });
});

describe('splicing', () => {
  it('puts a step between two, and the branch stays on its first half', () => {
    const graph = draw('review -approved> pay\nlog', { review: 'approval' });
    expect(edgesOf(splice(graph, 'review-approved-pay', 'log', KINDS))).toEqual(['log > pay', 'review -approved> log']);
  });

  it('refuses to close a circle', () => {
    const graph = draw('start > a > b > c');
    expect(splice(graph, 'start-out-a', 'b', KINDS)).toBe(graph);
  });
});

describe('containers', () => {
  it('takes a step in, and bridges what it was connected to', () => {
    const graph = draw('start > a > end\neach', { each: 'map' });
    const moved = moveInto(graph, ['a'], 'each', { places: new Map([['a', { x: 24, y: 64 }]]), kinds: KINDS });
    expect(edgesOf(moved)).toEqual(['start > end']);
    expect(moved.nodes.find((node) => node.id === 'a')).toMatchObject({ parent: 'each', position: { x: 24, y: 64 } });
  });

  it('keeps the edges among steps that move together', () => {
    const graph = draw('start > a > b > end\neach', { each: 'map' });
    const moved = moveInto(graph, ['a', 'b'], 'each', { places: new Map(), kinds: KINDS });
    expect(edgesOf(moved)).toContain('a > b');
    expect(edgesOf(moved)).not.toContain('start > a');
  });

  it('never puts a container into itself', () => {
    const graph = draw('each\neach/inner\ninner/x', { each: 'map', inner: 'map' });
    const moved = moveInto(graph, ['each'], 'inner', { places: new Map(), kinds: KINDS });
    expect(moved.nodes.find((node) => node.id === 'each')?.parent).toBeNull();
  });
});

describe('renaming a key', () => {
  it('is followed by every expression that reads the step, and by nothing else', () => {
    let graph = draw('start > fetch > parse > code', { code: 'python', parse: 'set_fields' });
    graph = setConfig(graph, 'parse', {
      fields: {
        total: '{{ steps.fetch.output.total + steps["fetch"].output.tax }}',
        words: 'steps.fetch stays outside of braces',
        longer: '{{ steps.fetch_all.output }}',
      },
    });
    graph = setConfig(graph, 'code', {
      code: 'x = "{{ steps.fetch.output }}"',
      inputs: { a: '{{ steps.fetch.output }}' },
    });
    graph = setPolicy(graph, 'code', { skip_if: '{{ not steps.fetch.output }}' });
    const renamed = renameKey(graph, 'fetch', 'load', KINDS);
    expect(renamed.nodes.find((node) => node.id === 'code')?.policy).toEqual({
      skip_if: '{{ not steps.load.output }}',
    });
    expect(renamed.nodes.find((node) => node.id === 'parse')?.config).toEqual({
      fields: {
        total: '{{ steps.load.output.total + steps["load"].output.tax }}',
        words: 'steps.fetch stays outside of braces',
        longer: '{{ steps.fetch_all.output }}',
      },
    });
    expect(renamed.nodes.find((node) => node.id === 'code')?.config).toEqual({
      code: 'x = "{{ steps.fetch.output }}"', // literal: nobody evaluates it
      inputs: { a: '{{ steps.load.output }}' },
    });
  });

  it('refuses a key that another step has or that expressions cannot say', () => {
    const graph = draw('start > a');
    for (const key of ['start', '', '1a', 'a b', 'run', 'ü']) expect(renameKey(graph, 'a', key, KINDS)).toBe(graph);
  });
});

it('replacing a kind keeps the edges, those of missing ports on the first port', () => {
  const graph = draw('start > review\nreview -approved> pay\nreview -rejected> pay', { review: 'approval' });
  const replaced = replaceKind(graph, 'review', 'set_fields', KINDS);
  expect(edgesOf(replaced)).toEqual(['review > pay', 'start > review']);
});

it('fields of a later version survive every change', () => {
  const later = { ...draw('start > a'), colour: 'blue' } as GraphDocument & { colour: string };
  const marked = { ...later, nodes: later.nodes.map((node) => ({ ...node, future: node.key })) };
  const changed = renameKey(move(marked, new Map([['a', { x: 8, y: 8 }]])), 'a', 'b', KINDS);
  expect(changed).toMatchObject({ colour: 'blue', nodes: [{ future: 'start' }, { future: 'a' }] });
});

function broken(graph: GraphDocument): string | null {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  if (byId.size !== graph.nodes.length) return 'two nodes with one id';
  if (new Set(keysIn(graph)).size !== graph.nodes.length) return 'two nodes with one key';
  if (new Set(graph.edges.map((edge) => edge.id)).size !== graph.edges.length) return 'two edges with one id';
  for (const edge of graph.edges) {
    const [from, to] = [byId.get(edge.source), byId.get(edge.target)];
    if (!from || !to) return `edge ${edge.id} lacks an end`;
    if (from.parent !== to.parent) return `edge ${edge.id} crosses a border`;
    if (reachable(graph, edge.target, 'down').has(edge.source)) return `edge ${edge.id} closes a circle`;
  }
  return graph.nodes.some((node) => node.parent !== null && !byId.has(node.parent))
    ? 'a body without its container'
    : null;
}

/** One random change, as a hand might make it. */
function act(graph: GraphDocument, luck: ReturnType<typeof chance>): GraphDocument {
  const someId = () => luck.of(graph.nodes)?.id ?? 'none';
  const containers = graph.nodes.filter((node) => node.kind === 'map');
  const place = { x: luck.below(900), y: luck.below(900) };
  switch (luck.below(10)) {
    case 0:
    case 1:
      return addNode(graph, {
        id: `n${luck.next()}`,
        kind: luck.of(['map', 'approval', 'set_fields', 'start']) ?? 'map',
        position: place,
        parent: luck.of([null, luck.of(containers)?.id ?? null]) ?? null,
      });
    case 2:
    case 3:
      return connect(
        graph,
        { source: someId(), port: luck.of(['out', 'approved', 'error']) ?? 'out', target: someId() },
        KINDS,
      );
    case 4:
      return removeAndBridge(graph, [someId()], KINDS);
    case 5:
      return remove(graph, [someId(), luck.of(graph.edges)?.id ?? '']);
    case 6:
      return splice(graph, luck.of(graph.edges)?.id ?? '', someId(), KINDS);
    case 7:
      return moveInto(graph, [someId(), someId()], luck.of([null, luck.of(containers)?.id ?? null]) ?? null, {
        places: new Map(),
        kinds: KINDS,
      });
    case 8: {
      const clip = copy(graph, [someId(), someId(), someId()]);
      return clip ? paste(graph, clip, { at: place, kinds: KINDS, keepOutside: luck.below(2) === 0 }).document : graph;
    }
    default:
      return luck.below(2)
        ? renameKey(graph, someId(), luck.of(['a', 'b', 'c', 'map']) ?? 'a', KINDS)
        : replaceKind(graph, someId(), luck.of(['map', 'set_fields', 'start']) ?? 'map', KINDS);
  }
}

it('whatever a hand does, no edge lacks an end, crosses a border or closes a circle, and keys stay unique', () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const luck = chance(seed);
    let graph = EMPTY;
    for (let turn = 0; turn < 40; turn += 1) {
      const before = JSON.stringify(graph);
      const next = act(graph, luck);
      expect(JSON.stringify(graph), `seed ${seed} turn ${turn} changed the old document`).toBe(before);
      expect(broken(next), `seed ${seed} turn ${turn}`).toBeNull();
      graph = graph.nodes.length > 40 ? EMPTY : next;
    }
  }
});
