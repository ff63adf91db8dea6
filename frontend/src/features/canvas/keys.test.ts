import { describe, expect, it } from 'vitest';

import { COMMANDS } from './commands';
import { type Chord, chordOf, commandFor, findCommands, printKeys } from './keys';

const press = (key: string, patch: Partial<Chord> = {}): Chord => ({
  key,
  code: '',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...patch,
});

const on = (target: Element) => (chord: Chord) => commandFor({ ...chord, target })?.id;

describe('the command table', () => {
  it('gives no key to two commands', () => {
    const keys = COMMANDS.flatMap((command) => command.keys);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  it('names each command once', () => {
    const ids = COMMANDS.map((command) => command.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is reached by the keys that it names', () => {
    const canvas = on(document.createElement('div'));
    expect(canvas(press('n'))).toBe('add');
    expect(canvas(press('Z', { ctrlKey: true, shiftKey: true }))).toBe('redo');
    expect(canvas(press('z', { metaKey: true }))).toBe('undo');
    expect(canvas(press('Delete', { ctrlKey: true }))).toBe('bridge');
    expect(canvas(press('?', { shiftKey: true }))).toBe('shortcuts');
    expect(canvas(press('†', { code: 'KeyT', altKey: true, shiftKey: true }))).toBe('tidy');
    expect(canvas(press('q'))).toBeUndefined();
  });

  it('leaves typing alone, but for publish, run and the way back', () => {
    const field = on(document.createElement('input'));
    for (const chord of [press('n'), press('Delete'), press('z', { ctrlKey: true }), press('v', { ctrlKey: true })]) {
      expect(field(chord)).toBeUndefined();
    }
    expect(field(press('s', { ctrlKey: true }))).toBe('publish');
    expect(field(press('Enter', { ctrlKey: true }))).toBe('run');
  });

  it('leaves a button its Enter and Tab', () => {
    const button = on(document.createElement('button'));
    expect(button(press('Enter'))).toBeUndefined();
    expect(button(press('Tab'))).toBeUndefined();
    expect(button(press('n'))).toBe('add');
  });
});

it('chords are written for machines and for people', () => {
  expect(chordOf(press('+', { shiftKey: true }))).toBe('+');
  expect(printKeys('mod+shift+z', false)).toEqual(['Ctrl', 'Shift', 'Z']);
  expect(printKeys('mod+Delete', true)).toEqual(['⌘', 'Del']);
  expect(printKeys('+', false)).toEqual(['+']);
});

it('commands are found by what they do and by their keys', () => {
  const found = (query: string) => findCommands(COMMANDS, query).map((command) => command.id);
  expect(found('tidy')).toEqual(['tidy']);
  expect(found('ctrl g')).toEqual(['group', 'ungroup']);
  expect(found('shift s')).toEqual(['note']);
  expect(found('')).toHaveLength(COMMANDS.length);
  expect(found('nothing does this')).toEqual([]);
});
