import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/json';
import kinds from '../../testing/fixtures/connection-kinds.json';
import { pairsToText, readFields, textToPairs } from './schema-form';

function fieldsOf(kind: string) {
  const found = kinds.find((one) => one.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return readFields(found.schema as unknown as JsonObject, found.secret_fields);
}

describe('the form of a connection', () => {
  it('is made of the fields of its kind, each with the widget of its type', () => {
    const byName = new Map(fieldsOf('sql').map((field) => [field.name, field]));
    expect(byName.get('engine')).toMatchObject({ type: 'choice', choices: ['postgresql', 'sqlite'] });
    expect(byName.get('port')).toMatchObject({ type: 'number', initial: 5432 });
    expect(byName.get('password')).toMatchObject({ type: 'text', isSecret: true });
  });

  it('knows what is required, and an example where there is one', () => {
    const [base] = fieldsOf('http');
    expect(base).toMatchObject({ name: 'base_url', isRequired: true, example: 'https://api.example.com/v1' });
  });

  it('reads headers a line each, and skips what is none', () => {
    expect(textToPairs('X-Key: a:b\n\nnothing\nAccept: json')).toEqual({ 'X-Key': 'a:b', Accept: 'json' });
    expect(pairsToText({ a: 'b' })).toBe('a: b');
  });
});
