import { describe, expect, it } from 'vitest';

import { beginningOf, formatBytes, formatCount, formatDuration, formatNames, formatRelative } from '../format';
import { formatJson, parseJson } from '../json';

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [12.4, '12 ms'],
    [1000, '1.0 s'],
    [1234, '1.2 s'],
    [9940, '9.9 s'],
    [9950, '10 s'],
    [48_000, '48 s'],
    [59_600, '1 m 00 s'],
    [184_000, '3 m 04 s'],
    [7_500_000, '2 h 05 m'],
    [273_600_000, '3 d 04 h'],
    [null, '–'],
    [undefined, '–'],
    [-5, '–'],
    [Number.NaN, '–'],
  ])('%s ms is said as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('times', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  it.each([
    ['2026-01-31T11:59:58Z', 'just now'],
    ['2026-01-31T11:59:18Z', '42 s ago'],
    ['2026-01-31T11:56:00Z', '4 m ago'],
    ['2026-01-31T09:30:00Z', '2 h ago'],
    ['2026-01-28T12:00:00Z', '3 d ago'],
    ['2026-01-31T12:10:00Z', 'in 10 m'],
    [null, '–'],
    ['nonsense', '–'],
  ])('%s is said as %s', (at, text) => {
    expect(formatRelative(at, now)).toBe(text);
  });

  it('of long ago are dates', () => {
    expect(formatRelative('2025-06-01T12:00:00Z', now)).toContain('2025');
  });
});

describe('counts, names and sizes', () => {
  it('agree with their number', () => {
    expect(formatCount(1, 'step')).toBe('1 step');
    expect(formatCount(1200, 'step')).toBe('1,200 steps');
  });

  it('list at most three names', () => {
    expect(formatNames(['a'])).toBe('a');
    expect(formatNames(['a', 'b', 'c'])).toBe('a, b and c');
    expect(formatNames(['a', 'b', 'c', 'd', 'e'])).toBe('a, b and 3 more');
  });

  it('are read in bytes, kB and MB', () => {
    expect([12, 2048, 3 * 1024 * 1024].map(formatBytes)).toEqual(['12 B', '2.0 kB', '3.0 MB']);
  });
});

describe('JSON', () => {
  it('is the same after reading and writing, with integers of any size', () => {
    const text = '{"a":[123456789012345678901234567890,-9007199254740993,1.5,"1234567890123456789",null,true]}';
    expect(formatJson(parseJson(text))).toBe(text);
  });

  it('that is broken throws, long number or not', () => {
    expect(() => parseJson('{"a": 1')).toThrow();
    expect(() => parseJson('{"a": 12345678901234567890')).toThrow();
  });
});

describe('the beginning of a text', () => {
  it.each([
    ['abc', 2, 'ab'],
    ['abc', 3, 'abc'],
    ['😀😀😀', 3, '😀'],
    ['😀😀😀', 4, '😀😀'],
    ['x\ud83d', 2, 'x\ud83d'],
  ])('of %j within %i units is %j', (text, most, beginning) => {
    expect(beginningOf(text, most)).toBe(beginning);
  });
});
