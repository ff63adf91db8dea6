import { describe, expect, it } from 'vitest';

import type { GraphNode } from '../../diagram';
import { nameOf, shownOf } from './selection';
import { changeOf } from './step-history';
import { changeInWords, fieldName, valueText } from './words';

const shown = (query: string, live: number | null = 3) => shownOf(new URLSearchParams(query), live);

describe('the address of the page of versions', () => {
  it('shows the draft against what is live, and a version against the one before it', () => {
    expect(shown('')).toEqual({ show: 'draft', against: 3, node: null });
    expect(shown('show=3')).toEqual({ show: 3, against: 2, node: null });
    expect(shown('show=1')).toEqual({ show: 1, against: null, node: null });
    expect(shown('', null).against).toBeNull();
  });

  it('names both sides and a step, and reads nonsense as nothing', () => {
    expect(shown('show=2&with=draft&node=n1')).toEqual({ show: 2, against: 'draft', node: 'n1' });
    expect(shown('show=2&with=2')).toEqual({ show: 2, against: 1, node: null });
    expect(shown('show=-1&with=0')).toEqual({ show: 'draft', against: 3, node: null });
  });

  it('calls a side by its name', () => {
    expect([null, 'draft' as const, 2].map(nameOf)).toEqual(['nothing', 'the draft', 'version 2']);
  });
});

describe('a difference in words', () => {
  it('calls fields by what the form calls them', () => {
    expect(fieldName({ path: 'config.headers.a', how: 'added' })).toBe('Settings › headers › a');
    expect(fieldName({ path: 'parent', how: 'added' })).toBe('Container');
    expect(fieldName({ path: 'policy.retry', how: 'added' })).toBe('Behaviour › retry');
  });

  it('shows texts as they stand, and long integers exactly', () => {
    expect([valueText('a\nb'), valueText(9007199254740993n), valueText(undefined)]).toEqual([
      'a\nb',
      '9007199254740993',
      '',
    ]);
  });

  it('tells a change in a line', () => {
    const fields = ['name', 'config.a', 'config.b', 'config.c', 'policy.x'].map((path) => ({
      path,
      how: 'changed' as const,
    }));
    expect(changeInWords('changed', fields)).toBe('changed Name, Settings › a, Settings › b and 2 more');
    expect(changeInWords('added', [])).toBe('added the step');
    expect(changeInWords('removed', [])).toBe('took the step out');
  });

  it('tells what became of a step from one row of its history to the next', () => {
    const node = {
      id: 'n1',
      key: 'a',
      name: 'A',
      kind: 'x',
      config: {},
      policy: {},
      parent: null,
      position: { x: 0, y: 0 },
    };
    const state = (one: GraphNode | null) => ({ number: 1, note: '', at: '', by: null, node: one });
    expect(changeOf(state(null), state(node)).how).toBe('removed');
    expect(changeOf(state(node), state(null)).how).toBe('added');
    expect(changeOf(state(node), undefined).how).toBe('added');
    expect(changeOf(state({ ...node, name: 'B' }), state(node)).fields).toEqual([
      { path: 'name', how: 'changed', before: 'A', after: 'B' },
    ]);
  });
});
