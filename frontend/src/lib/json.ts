import { parse, stringify } from 'lossless-json';

/** A JSON value whose integers are exact: those beyond 2^53 are bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const LONG_NUMBER = /\d{16}/;

function exactNumber(text: string): number | bigint {
  const value = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

/** Parses JSON without rounding integers. The slow exact parser runs only where a text can need it. */
export function parseJson(text: string): unknown {
  return LONG_NUMBER.test(text) ? parse(text, undefined, { parseNumber: exactNumber }) : JSON.parse(text);
}

export function formatJson(value: unknown, indent?: number): string {
  return stringify(value, undefined, indent) ?? 'null';
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Equal as JSON values: the order of an object's fields does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, at) => sameJson(one, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => name in b && sameJson(a[name], b[name]));
}
