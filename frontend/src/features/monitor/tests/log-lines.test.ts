import { describe, expect, it } from 'vitest';

import { filterLines, levelOf, linesOf, partsOf } from '../log-lines';

const AT = (second: number) => `2026-03-04T12:00:0${second}Z`;

describe('the lines of a log', () => {
  it('have the time of the piece that they were written in, counted in bytes', () => {
    const times = [
      { offset: 0, at: AT(0) },
      { offset: 8, at: AT(1) },
      { offset: 10, at: AT(2) },
    ];
    const lines = linesOf('grüße\nb\nc\n', times); // 'grüße\n' is 8 bytes
    expect(lines.map((line) => [line.number, line.text, line.at])).toEqual([
      [1, 'grüße', AT(0)],
      [2, 'b', AT(1)],
      [3, 'c', AT(2)],
    ]);
    expect(linesOf('old\n', [])[0]?.at).toBeNull();
    expect(linesOf('', [])).toEqual([]);
  });

  it('have the level that they name, or that of the line to which they belong', () => {
    expect(levelOf('2026-03-04 WARNING slow', 'info')).toBe('warning');
    expect(levelOf('DEBUG x', 'info')).toBe('debug');
    expect(levelOf('no errors were found', 'info')).toBe('info');
    expect(levelOf(`${'x'.repeat(90)} ERROR`, 'info')).toBe('info');
    const thrown = linesOf('ok\nTraceback (most recent call last):\n  File "a.py"\nValueError: bad\ndone\n', []);
    expect(thrown.map((line) => line.level)).toEqual(['info', 'error', 'error', 'error', 'info']);
  });

  it('are searched without regard to case, and by the least level', () => {
    const lines = linesOf('INFO Alpha\nERROR alpha\nDEBUG beta\n', []);
    expect(filterLines(lines, { text: 'ALPHA', level: null })).toHaveLength(2);
    expect(filterLines(lines, { text: 'alpha', level: 'warning' }).map((line) => line.number)).toEqual([2]);
    expect(filterLines(lines, { text: '', level: 'info' })).toHaveLength(2);
  });

  it('are cut where they contain what is wanted', () => {
    expect(partsOf('a Bc b', 'b')).toEqual(['a ', 'B', 'c ', 'b', '']);
    expect(partsOf('abc', '')).toEqual(['abc']);
    expect(partsOf('abc', 'x')).toEqual(['abc']);
  });
});
