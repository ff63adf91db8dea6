import { formatJson, type Json } from '../../lib/json';
import type { FieldChange, How } from './difference';

export const SIGNS: Readonly<Record<How, string>> = { added: '+', removed: '−', changed: '≠' };

const OWN: Readonly<Record<string, string>> = {
  name: 'Name',
  key: 'Key',
  kind: 'Kind',
  parent: 'Container',
  config: 'Settings',
  policy: 'Behaviour',
};

/** 'config.headers.a' -> 'Settings › headers › a'. */
export function fieldName({ path }: FieldChange): string {
  const [own = '', ...rest] = path.split('.');
  return [OWN[own] ?? own, ...rest].join(' › ');
}

/** A text as it stands, anything else as JSON. */
export const valueText = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : formatJson(value, 2);

/** 'changed Settings › url and Name', in a line of the history. */
export function changeInWords(how: How, fields: readonly FieldChange[]): string {
  if (how === 'added') return 'added the step';
  if (how === 'removed') return 'took the step out';
  const names = fields.slice(0, 3).map(fieldName);
  const more = fields.length - names.length;
  return `changed ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
