import type { StepKind } from '../../../diagram';
import { isObject, type Json, type JsonObject } from '../../../lib/json';

/** What Jinja evaluates: {{ ... }} and {% ... %}. Text outside of them is only text. */
const EVALUATED = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;
const STEP = /\bsteps\s*(?:\.\s*([A-Za-z_][A-Za-z0-9_]*)|\[\s*(['"])((?:(?!\2).)*)\2\s*\])/g;

/** Calls `rename` for each step that an expression reads; what it answers replaces the key. */
function mapKeysInText(text: string, rename: (key: string) => string): string {
  if (!text.includes('steps')) return text;
  return text.replace(EVALUATED, (part) =>
    part.replace(STEP, (whole: string, dotted: string | undefined, quote: string, quoted: string | undefined) => {
      const key = dotted ?? quoted ?? '';
      const next = rename(key);
      if (next === key) return whole;
      return dotted === undefined ? `steps[${quote}${next}${quote}]` : whole.slice(0, whole.length - key.length) + next;
    }),
  );
}

function mapKeys(value: Json, rename: (key: string) => string): Json {
  if (typeof value === 'string') return mapKeysInText(value, rename);
  if (Array.isArray(value))
    return keepIfSame(
      value,
      value.map((one) => mapKeys(one, rename)),
    );
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([name, one]): [string, Json] => [mapKeysInText(name, rename), mapKeys(one, rename)]);
  const isSame = mapped.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(mapped);
}

const keepIfSame = (before: Json[], now: Json[]): Json[] => (now.every((one, at) => one === before[at]) ? before : now);

/** Fields whose text is taken as it stands (code, templates): no expression in them is evaluated. */
export function literalFields(kind: StepKind | undefined): ReadonlySet<string> {
  const properties = kind?.schema.properties;
  if (!isObject(properties)) return new Set();
  const isLiteral = (field: Json) => isObject(field) && isObject(field['x-pawl']) && field['x-pawl'].literal === true;
  return new Set(Object.keys(properties).filter((name) => isLiteral(properties[name] ?? null)));
}

/** The config with every reference renamed; the same object where nothing in it refers to a renamed step. */
export function renameReferences<Fields extends object>(
  config: Fields,
  rename: (key: string) => string,
  literal: ReadonlySet<string> = new Set(),
): Fields {
  let changed: Fields | null = null;
  for (const [field, value] of Object.entries(config) as [string, Json][]) {
    if (literal.has(field)) continue;
    const mapped = mapKeys(value, rename);
    if (mapped !== value) changed = { ...(changed ?? config), [field]: mapped };
  }
  return changed ?? config;
}

/** Keys of the steps that a config reads. */
export function referencesOf(config: JsonObject, literal: ReadonlySet<string> = new Set()): Set<string> {
  const found = new Set<string>();
  renameReferences(
    config,
    (key) => {
      found.add(key);
      return key;
    },
    literal,
  );
  return found;
}
