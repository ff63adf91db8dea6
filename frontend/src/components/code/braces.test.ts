import { describe, expect, it } from 'vitest';
import { typedBrace } from './braces';

/** Types a text character by character; the cursor begins where | stands. */
function type(start: string, text: string): string {
  let [before = '', after = ''] = start.split('|');
  for (const one of text) {
    const typed = typedBrace(before, after, one) ?? { insert: one, take: 0, move: 1 };
    const whole = before + typed.insert + after.slice(typed.take);
    after = whole.slice(before.length + typed.move);
    before = whole.slice(0, before.length + typed.move);
  }
  return `${before}|${after}`;
}

describe('typing braces', () => {
  it('closes {{ with the cursor between', () => {
    expect(type('|', '{{')).toBe('{{ | }}');
  });

  it.each([
    '{{ run.input.batch }}',
    '/batches/{{ run.input.batch }}/documents',
    '{{ a }} and {{ b }}',
    "{{ {'a': 1} }}",
    "{{ {'a': {'b': 1}} }}",
    '{"a": {{ x }}, "b": {"c": 1}}',
  ])('gives %s where all of it is typed', (text) => {
    expect(type('|', text)).toBe(`${text}|`);
  });

  it('types over what closed itself, with and without the space before it', () => {
    expect(type('|', '{{x}}')).toBe('{{ x }}|');
    expect(type('{{ x| }}', '}}')).toBe('{{ x }}|');
    expect(type('{{ x |}}', '}}')).toBe('{{ x }}|');
  });

  it('leaves braces outside an expression alone', () => {
    expect(type('|', '{}}')).toBe('{}}|');
    expect(type('{{ x }}|', '}}')).toBe('{{ x }}}}|');
  });
});
