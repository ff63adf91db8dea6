/** From a step kind's JSON Schema to the fields of its form. Pure; knows JSON Schema as pydantic writes it. */
import { isObject, type Json, type JsonObject } from '../../../lib/json';

export type Widget =
  | 'text'
  | 'textarea'
  | 'expression'
  | 'number'
  | 'switch'
  | 'select'
  | 'code'
  | 'json'
  | 'json-schema'
  | 'key-values'
  | 'list'
  | 'cases'
  | 'connection'
  | 'workflow'
  | 'duration'
  | 'datetime'
  | 'file'
  | 'object';

export interface Field {
  name: string;
  title: string;
  description: string;
  widget: Widget;
  required: boolean;
  /** Its text is taken as it stands: no expression in it is evaluated. */
  literal: boolean;
  /** What stands where the field is left out. */
  default: Json | undefined;
  example: string;
  options: readonly string[];
  /** How options are said to people, where their names do not say it. */
  labels: Readonly<Record<string, string>>;
  /** Of 'code': python, sql, json, html. */
  language: string;
  /** The value may be null: emptied, it becomes null. */
  nullable: boolean;
  integer: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
  /** Shown only where another field has one of these values. */
  when: Readonly<Record<string, readonly Json[]>>;
  /** Of 'object': the fields inside. */
  fields: readonly Field[];
}

const KNOWN = new Set<string>([
  'text',
  'textarea',
  'expression',
  'switch',
  'select',
  'code',
  'json',
  'json-schema',
  'key-values',
  'cases',
  'connection',
  'workflow',
  'duration',
  'datetime',
  'file',
]);

const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const asText = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const asNumber = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Follows `$ref` and looks through `anyOf: [X, null]`. What stands beside them (title, x-pawl) wins. */
function settle(schema: JsonObject, root: JsonObject): { schema: JsonObject; nullable: boolean } {
  const ref = asText(schema.$ref);
  if (ref.startsWith('#/$defs/')) {
    const target = asObject(asObject(root.$defs)[ref.slice('#/$defs/'.length)]);
    const { $ref: _, ...beside } = schema;
    return settle({ ...target, ...beside }, root);
  }
  const choices = asList(schema.anyOf).map(asObject);
  const real = choices.filter((one) => one.type !== 'null');
  if (choices.length > 1 && real.length === 1) {
    const { anyOf: _, ...beside } = schema;
    return { schema: { ...settle(asObject(real[0]), root).schema, ...beside }, nullable: choices.length > real.length };
  }
  return { schema, nullable: false };
}

function widgetOf(schema: JsonObject): Widget {
  const hints = asObject(schema['x-pawl']);
  const named = asText(hints.widget);
  if (named === 'file' && schema.type === 'array') return 'list';
  if (KNOWN.has(named)) return named as Widget;
  if (hints.language) return 'code';
  return Array.isArray(schema.enum) ? 'select' : widgetOfType(schema);
}

function widgetOfType(schema: JsonObject): Widget {
  const { type, format, items, properties, additionalProperties } = schema;
  if (type === 'string') return format === 'date-time' ? 'datetime' : 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'switch';
  if (type === 'array')
    return ['string', undefined].includes(asObject(items).type as string | undefined) ? 'list' : 'json';
  if (type === 'object' && isObject(properties)) return 'object';
  return type === 'object' && additionalProperties ? 'key-values' : 'json';
}

const inWords = (name: string): string => {
  const spaced = name.replaceAll('_', ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

function exampleOf(schema: JsonObject): string {
  const [first] = asList(schema.examples);
  if (first === undefined) return '';
  return typeof first === 'string'
    ? first
    : JSON.stringify(first, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

function conditionsOf(hints: JsonObject): Field['when'] {
  return Object.fromEntries(Object.entries(asObject(hints.when)).map(([name, values]) => [name, asList(values)]));
}

function fieldOf(name: string, raw: JsonObject, { root, required }: { root: JsonObject; required: boolean }): Field {
  const { schema, nullable } = settle(raw, root);
  const hints = asObject(schema['x-pawl']);
  const widget = widgetOf(schema);
  return {
    name,
    title: asText(schema.title) || inWords(name),
    description: asText(schema.description),
    widget,
    required,
    literal: hints.literal === true,
    default: schema.default,
    example: exampleOf(schema),
    options: asList(schema.enum).map(String),
    labels: Object.fromEntries(Object.entries(asObject(hints.labels)).map(([name, words]) => [name, asText(words)])),
    language: asText(hints.language) || 'text',
    nullable,
    integer: schema.type === 'integer',
    minimum: asNumber(schema.minimum) ?? asNumber(schema.exclusiveMinimum),
    maximum: asNumber(schema.maximum) ?? asNumber(schema.exclusiveMaximum),
    when: conditionsOf(hints),
    fields: widget === 'object' ? fieldsOf(schema, root) : [],
  };
}

/** The fields of an object schema, in the order of the schema. */
export function fieldsOf(schema: JsonObject, root: JsonObject = schema): Field[] {
  const required = new Set(asList(schema.required).map(String));
  return Object.entries(asObject(schema.properties)).map(([name, raw]) =>
    fieldOf(name, asObject(raw), { root, required: required.has(name) }),
  );
}

const same = (a: Json | undefined, b: Json | undefined): boolean =>
  JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** A field that hangs on another one shows only where that one says so. An expression there may come to anything. */
export function isShown(field: Field, config: JsonObject, all: readonly Field[]): boolean {
  return Object.entries(field.when).every(([name, values]) => {
    const now = config[name] ?? all.find((other) => other.name === name)?.default;
    return isExpression(now) || values.some((value) => same(value, now));
  });
}

const WHOLE = /^\s*\{\{[\s\S]*\}\}\s*$/;

/** One whole expression: it keeps its type. */
export function isExpression(value: Json | undefined): value is string {
  return typeof value === 'string' && WHOLE.test(value) && value.split('{{').length === 2;
}

/** The config with a field set; left out again where it says what stands there anyway. */
export function withField(config: JsonObject, field: Field, value: Json | undefined): JsonObject {
  const { [field.name]: _, ...others } = config;
  const isDefault = value === undefined || (field.default !== undefined && same(value, field.default));
  if (isDefault && !field.required) return others;
  if (value === undefined) return others;
  return field.name in config ? { ...config, [field.name]: value } : { ...others, [field.name]: value };
}

/** The part of a problem's field path that is inside the config: 'config.url' and 'url' mean the same field. */
export function problemsOfField<P extends { field?: string | null }>(problems: readonly P[], name: string): P[] {
  return problems.filter((problem) => {
    const path = (problem.field ?? '').replace(/^.*\bconfig[.[]?/, '').replace(/^["']/, '');
    return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
  });
}
