import { describe, expect, it } from 'vitest';
import { complete } from '../../../components/code/completion';
import type { StepKind } from '../../../diagram';
import { setConfig } from '../model/document';
import { draw } from '../testing/draw';
import { KINDS } from '../testing/handlers';
import { scopeOf } from './completion';
import { parseDuration, writeDuration } from './duration';
import { fieldsOf, isExpression, isShown, problemsOfField, withField } from './schema';

const fieldsOfKind = (kind: string) => fieldsOf(KINDS.get(kind)?.schema ?? {});
const field = (kind: string, name: string) => {
  const found = fieldsOfKind(kind).find((one) => one.name === name);
  if (!found) throw new Error(`${kind} has no field ${name}`);
  return found;
};

describe('the form generator', () => {
  it.each([...KINDS.keys()])('makes a form for %s, and every field has a title', (kind) => {
    const properties = Object.keys((KINDS.get(kind)?.schema.properties as object) ?? {});
    expect(fieldsOfKind(kind).map((one) => one.name)).toEqual(properties);
    expect(fieldsOfKind(kind).every((one) => one.title !== '')).toBe(true);
  });

  it('chooses the widget by hint, then by type', () => {
    const widgets = (kind: string, ...names: string[]) => names.map((name) => field(kind, name).widget);
    expect(
      widgets('http_request', 'method', 'url', 'connection', 'query', 'follow_redirects', 'timeout_s', 'size_limit_mb'),
    ).toEqual(['select', 'text', 'connection', 'key-values', 'switch', 'duration', 'number']);
    expect(widgets('switch', 'value', 'cases')).toEqual(['expression', 'cases']);
    expect(widgets('email', 'to', 'html')).toEqual(['list', 'code']);
    expect(widgets('start', 'input_schema')).toEqual(['json-schema']);
  });

  it('looks through a value that may be null', () => {
    expect(field('http_request', 'connection')).toMatchObject({ nullable: true, required: false });
  });

  it('follows references into $defs', () => {
    const [found] = fieldsOf({
      properties: { a: { $ref: '#/$defs/A', title: 'Mine' } },
      $defs: { A: { type: 'object', title: 'A', properties: { b: { type: 'integer' } } } },
    });
    expect(found).toMatchObject({
      widget: 'object',
      title: 'Mine',
      fields: [{ name: 'b', widget: 'number', integer: true }],
    });
  });

  it('shows a field only where another one asks for it', () => {
    const all = fieldsOfKind('http_request');
    const body = field('http_request', 'body');
    expect(isShown(body, {}, all)).toBe(false);
    expect(isShown(body, { body_type: 'json' }, all)).toBe(true);
    expect(isShown(body, { body_type: '{{ run.input.type }}' }, all)).toBe(true);
  });

  it('leaves a field out where it says its default', () => {
    const method = field('http_request', 'method');
    expect(withField({ url: '/' }, method, 'POST')).toEqual({ url: '/', method: 'POST' });
    expect(withField({ url: '/', method: 'POST' }, method, 'GET')).toEqual({ url: '/' });
    expect(withField({ url: '/' }, field('http_request', 'url'), undefined)).toEqual({});
  });

  it('tells a whole expression from a text with expressions', () => {
    expect(isExpression('{{ a.b }}')).toBe(true);
    for (const value of ['{{ a }} and {{ b }}', 'x {{ a }}', '', 3, null]) expect(isExpression(value)).toBe(false);
  });

  it('finds the problems of a field at any depth', () => {
    const problems = ['url', 'config.url', 'body.lines[0]', 'policy.on_error', null].map((one) => ({ field: one }));
    expect(problemsOfField(problems, 'url')).toHaveLength(2);
    expect(problemsOfField(problems, 'body')).toHaveLength(1);
  });
});

describe('completion', () => {
  const graph = setConfig(draw('start > fetch > each > end\neach/x', { each: 'map' }), 'start', {
    input_schema: { type: 'object', properties: { batch: { type: 'string' } } },
  });
  const labels = (text: string, id = 'x') => complete(text, scopeOf(graph, id, KINDS))?.options.map((one) => one.label);

  it('offers only what lies upstream, and the item inside of a container', () => {
    expect(labels('{{ ')).toEqual([
      'item',
      'index',
      'steps.fetch.output',
      'run.input.batch',
      'run.input',
      'run.number',
      'run.id',
    ]);
    expect(labels('{{ ', 'fetch')).not.toContain('item');
    expect(labels('{{ steps.')).toEqual(['fetch']);
    expect(labels('{{ steps.fetch.')).toEqual(['output']);
    expect(labels('{{ run.input.')).toEqual(['batch']);
  });

  it('offers in each container what that kind gives, and in an inner one the outer names as well', () => {
    const gives = (kind: string, names: string[]): [string, StepKind] => [
      kind,
      { ...(KINDS.get('map') as StepKind), kind, gives: names },
    ];
    const kinds = new Map([...KINDS, gives('loop', ['index', 'previous']), gives('try_block', [])]);
    const nested = draw('start > all\nall/again\nagain/x', { all: 'try_block', again: 'loop' });
    const names = (id: string) => scopeOf(nested, id, kinds).given;
    expect([names('x'), names('again'), names('all')]).toEqual([['index', 'previous'], [], []]);
  });

  it('is silent outside of braces', () => {
    expect(labels('steps.')).toBeUndefined();
    expect(labels('{{ a }} steps.')).toBeUndefined();
  });

  it('replaces only the word that is being typed', () => {
    expect(complete('{{ steps.fe', scopeOf(graph, 'x', KINDS))?.typed).toBe(2);
    expect(labels('{{ item | jo')).toEqual(['join', 'tojson'].filter((one) => one.includes('jo')));
  });
});

it('durations are read as people write them', () => {
  const cases: [string, number | null][] = [
    ['30', 30],
    ['500 ms', 0.5],
    ['1 h 30 m', 5400],
    ['2.5s', 2.5],
    ['1,5 min', 90],
    ['2 days', 172_800],
    ['soon', null],
    ['', null],
    ['5 x', null],
  ];
  for (const [text, seconds] of cases) expect(parseDuration(text), text).toBe(seconds);
  for (const seconds of [0.25, 1, 90, 5400, 172_805]) expect(parseDuration(writeDuration(seconds))).toBe(seconds);
});
