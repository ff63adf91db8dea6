import { describe, expect, it } from 'vitest';

import { createToFlow, drawAll, type GraphDocument, noteNode } from '../../../diagram';
import { draw, edgesOf } from '../testing/draw';
import { KINDS } from '../testing/handlers';
import { copy, paste, readClip, writeClip } from './clipboard';
import { move, moveInto, remove, removeAndBridge, setDisabled } from './document';
import {
  carryMembers,
  foldGroup,
  freeGroupName,
  makeGroup,
  renameGroup,
  settleGroups,
  ungroup,
  whyNotGroup,
} from './groups';
import { addNote, nextColour, resizeNote, setNoteColour, setNoteText, titleOfNote } from './notes';
import { spliceStep, whyNotSplice } from './splice';
import { tidyUp } from './tidy';

const NONE: ReadonlySet<string> = new Set();
const noted = (graph: GraphDocument, text = 'hello') => addNote(graph, { id: 's', at: { x: 10, y: 10 }, text });
const grouped = (graph: GraphDocument, ...ids: string[]) => makeGroup(graph, ids, { id: 'g', name: 'Reading' });

describe('tidying up', () => {
  it('lays out the chosen steps alone, from the corner where they stood', () => {
    const graph = move(draw('start > a > b > c'), new Map([['b', { x: 600, y: 300 }]]));
    const tidied = tidyUp(graph, new Set(['a', 'b']), KINDS);
    expect(tidied.nodes.filter((node, at) => node !== graph.nodes[at]).map((node) => node.id)).toEqual(['b']);
    const [a, b] = ['a', 'b'].map((id) => tidied.nodes.find((node) => node.id === id)?.position);
    expect(a).toEqual({ x: 256, y: 0 });
    expect(b?.y).toBe(0);
    expect(b?.x).toBeGreaterThan(456);
  });

  it('tidies a chosen container with its body, and the steps of a body on their own level', () => {
    const graph = move(draw('start > each\neach/x > each/y', { each: 'map' }), new Map([['y', { x: 30, y: 500 }]]));
    const whole = tidyUp(graph, new Set(['start', 'each']), KINDS);
    const inside = tidyUp(graph, new Set(['x', 'y']), KINDS);
    for (const tidied of [whole, inside]) {
      const [x, y] = ['x', 'y'].map((id) => tidied.nodes.find((node) => node.id === id)?.position);
      expect(y?.y).toBe(x?.y);
      expect(tidied.nodes.find((node) => node.id === 'y')?.parent).toBe('each');
    }
    expect(inside.nodes.find((node) => node.id === 'each')).toBe(graph.nodes.find((node) => node.id === 'each'));
  });

  it('takes the whole graph where fewer than two steps are chosen', () => {
    const graph = draw('start > a');
    expect(tidyUp(graph, NONE, KINDS)).toEqual(tidyUp(graph, new Set(['a']), KINDS));
  });
});

describe('putting a loose step into an edge', () => {
  it('connects it on both sides, moves it to the level of the edge, and makes room', () => {
    const graph = draw('start > each\neach/x > each/y\nloose', { each: 'map' });
    const spliced = spliceStep(graph, { edge: 'x-out-y', node: 'loose' }, { kinds: KINDS });
    expect(edgesOf(spliced)).toEqual(['loose > y', 'start > each', 'x > loose']);
    const at = (id: string) => spliced.nodes.find((node) => node.id === id);
    expect(at('loose')?.parent).toBe('each');
    expect(at('loose')?.position.x).toBeGreaterThanOrEqual((at('x')?.position.x ?? 0) + 256);
    expect(at('y')?.position.x).toBeGreaterThanOrEqual((at('loose')?.position.x ?? 0) + 256);
  });

  it('says why not, and then changes nothing', () => {
    const graph = draw('start > a > b\nend\nloose\neach\neach/x > each/y', {
      end: 'fail',
      each: 'map',
      loose: 'start',
    });
    for (const [edge, node, why] of [
      ['start-out-a', 'b', 'connected already'],
      ['start-out-a', 'gone', 'no longer there'],
      ['start-out-a', 'loose', 'No edge leads through'],
      ['x-out-y', 'each', 'its own body'],
    ] as const) {
      expect(whyNotSplice(graph, { edge, node }, KINDS)).toMatch(why);
      expect(spliceStep(graph, { edge, node }, { kinds: KINDS })).toBe(graph);
    }
  });
});

describe('notes', () => {
  it('are written, coloured, moved, resized and deleted', () => {
    let graph = noted(draw('start'));
    graph = setNoteText(graph, 's', '# Nightly');
    graph = setNoteColour(graph, 's', nextColour('yellow'));
    graph = move(graph, new Map([['s', { x: 40, y: 60 }]]));
    graph = resizeNote(graph, 's', { width: 301, height: 10 });
    expect(graph.notes).toEqual([
      { id: 's', text: '# Nightly', colour: 'blue', position: { x: 40, y: 60 }, size: { width: 300, height: 64 } },
    ]);
    expect(remove(graph, ['s']).notes).toEqual([]);
    expect(remove(graph, ['s']).nodes).toHaveLength(1);
  });

  it('keep the identity of the document where nothing changes', () => {
    const graph = noted(draw('start'));
    expect(setNoteText(graph, 's', 'hello')).toBe(graph);
    expect(setNoteColour(graph, 's', 'yellow')).toBe(graph);
    expect(setNoteText(graph, 'gone', 'x')).toBe(graph);
    expect(addNote(graph, { id: 's', at: { x: 0, y: 0 } })).toBe(graph);
  });

  it('are called by their first words', () => {
    const note = (text: string) => ({ ...(noted(draw('a')).notes?.[0] ?? never()), text });
    expect(titleOfNote(note('\n## **Why** this waits\nmore'))).toBe('Why this waits');
    expect(titleOfNote(note('- [ ] limits'))).toBe('limits');
    expect(titleOfNote(note(' '))).toBe('Empty note');
    expect(titleOfNote(note('x'.repeat(80)))).toHaveLength(60);
  });
});

function never(): never {
  throw new Error('no note');
}

describe('groups', () => {
  it('take steps and notes of one level, each from the group in which it stood', () => {
    let graph = noted(draw('start > a > b > c'));
    graph = grouped(graph, 'a', 'b', 's');
    expect(graph.groups).toEqual([{ id: 'g', name: 'Reading', members: ['a', 'b', 's'], collapsed: false }]);
    graph = makeGroup(graph, ['b', 'c'], { id: 'h', name: freeGroupName(graph) });
    expect(graph.groups?.map(({ name, members }) => [name, members])).toEqual([
      ['Reading', ['a', 's']],
      ['Group 1', ['b', 'c']],
    ]);
  });

  it('say why not', () => {
    const graph = noted(draw('start > each\neach/x', { each: 'map' }));
    expect(whyNotGroup(graph, [])).toMatch('Select the steps');
    expect(whyNotGroup(graph, ['s'])).toMatch('Select the steps');
    expect(whyNotGroup(graph, ['start', 'x'])).toMatch('one level');
    expect(whyNotGroup(graph, ['each', 'x'])).toBeNull(); // the body comes with its container
    expect(grouped(graph, 'start', 'x')).toBe(graph);
  });

  it('lose who leaves, and go with their last step', () => {
    const graph = grouped(noted(draw('start > a > b\neach', { each: 'map' })), 'a', 'b', 's');
    const moved = moveInto(graph, ['a'], 'each', { places: new Map(), kinds: KINDS });
    expect(moved.groups?.[0]?.members).toEqual(['b', 's']);
    expect(remove(moved, ['b']).groups).toEqual([]);
    expect(settleGroups(graph)).toBe(graph);
  });

  it('are deleted with their steps, bridged where asked, or taken apart', () => {
    const graph = grouped(draw('start > a > b > end'), 'a', 'b');
    expect(edgesOf(removeAndBridge(graph, ['g'], KINDS))).toEqual(['start > end']);
    expect(remove(graph, ['g']).nodes.map((node) => node.id)).toEqual(['start', 'end']);
    const apart = ungroup(graph, new Set(['g']));
    expect([apart.nodes.length, apart.groups]).toEqual([4, []]);
  });

  it('carry their members where they are dragged, open and folded', () => {
    const open = grouped(draw('start > a > b'), 'a', 'b');
    const folded = foldGroup(open, 'g', true);
    expect(new Map(carryMembers(folded, [['g', { x: 300, y: 40 }]]))).toEqual(
      new Map([
        ['a', { x: 300, y: 40 }],
        ['b', { x: 556, y: 40 }],
      ]),
    );
    const [, a] = carryMembers(open, [
      ['start', { x: 1, y: 1 }],
      ['g', { x: 236, y: -14 }],
    ]);
    expect(a).toEqual(['a', { x: 256, y: 40 }]);
  });

  it('are renamed, and folded', () => {
    const graph = grouped(draw('start > a'), 'a');
    expect(renameGroup(graph, 'g', ' Pay ').groups?.[0]?.name).toBe('Pay');
    expect(renameGroup(graph, 'g', ' ')).toBe(graph);
    expect(foldGroup(graph, 'g', false)).toBe(graph);
  });
});

it('the clipboard carries notes, and groups of which it holds all', () => {
  const graph = grouped(noted(draw('start > a > b')), 'a', 'b', 's');
  const clip = copy(graph, ['g']);
  if (!clip) throw new Error('nothing copied');
  expect(readClip(writeClip(clip))).toEqual(clip);
  const { document, ids } = paste(graph, clip, { kinds: KINDS });
  expect(ids).toHaveLength(3);
  expect(document.groups?.[1]?.members.toSorted()).toEqual(ids.toSorted());
  expect(document.notes).toHaveLength(2);
  expect(copy(graph, ['a'])?.groups).toEqual([]);
  const alone = copy(graph, ['s']);
  expect(alone && readClip(writeClip(alone))?.notes).toHaveLength(1);
});

it('steps are switched off and on again, but never the start', () => {
  const graph = draw('start > a');
  const off = setDisabled(graph, new Set(['start', 'a']), { disabled: true, kinds: KINDS });
  expect(off.nodes.map((node) => node.disabled)).toEqual([undefined, true]);
  expect(setDisabled(off, new Set(['a']), { disabled: false, kinds: KINDS })).toEqual(graph);
  expect(setDisabled(graph, new Set(['a']), { disabled: false, kinds: KINDS })).toBe(graph);
});

describe('what is drawn', () => {
  const drawn = (graph: GraphDocument) => {
    const { nodes, edges } = createToFlow()(graph, { kinds: KINDS }, NONE);
    const notes = (graph.notes ?? []).map((note) => noteNode(note, false));
    return { parts: nodes, ...drawAll({ nodes, edges, notes, groups: graph.groups ?? [], selection: NONE }) };
  };
  const ends = ({ edges }: ReturnType<typeof drawn>) => edges.map((edge) => `${edge.source} ${edge.target}`);

  it('is the steps alone where there is nothing else', () => {
    const { nodes, parts } = drawn(draw('start > a'));
    expect(nodes).toBe(parts);
  });

  it('begins with frames and ends with notes; a frame in a container comes behind it', () => {
    const graph = grouped(noted(draw('start > each\neach/x > each/y', { each: 'map' })), 'x', 'y');
    expect(drawn(graph).nodes.map((node) => node.id)).toEqual(['start', 'each', 'g', 'x', 'y', 's']);
    expect(drawn(grouped(draw('start > a'), 'a')).nodes.map((node) => node.id)).toEqual(['g', 'start', 'a']);
  });

  it('hides what is folded, and leads its edges to the card', () => {
    const graph = foldGroup(grouped(draw('start > each > b > end\neach/x', { each: 'map' }), 'each', 'b'), 'g', true);
    const shown = drawn(graph);
    expect(shown.nodes.map((node) => node.id)).toEqual(['g', 'start', 'end']);
    expect(ends(shown)).toEqual(['start g', 'g end']);
    expect(shown.nodes[0]).toMatchObject({ position: { x: 256, y: 0 }, width: 200, height: 56 });
  });
});
