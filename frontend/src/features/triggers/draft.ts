import { isObject, type Json, type JsonObject, parseJson } from '../../lib/json';
import type { TriggerDraft, TriggerKind } from './api';

/** What the dialog's fields hold. */
export interface Form {
  kind: TriggerKind;
  name: string;
  cron: string;
  zone: string;
  input: string;
  overlap: string;
  misfire: string;
  security: string;
  answer: string;
  source: string;
  on: string[];
}

export const emptyForm = (zone: string): Form => ({
  kind: 'schedule',
  name: '',
  cron: '0 2 * * *',
  zone,
  input: '',
  overlap: 'queue',
  misfire: 'run_once',
  security: 'hmac',
  answer: 'at_once',
  source: '',
  on: ['succeeded'],
});

export type Read = { draft: TriggerDraft } | { problem: string };

/** The request that the fields make; or what is wrong with the input's JSON. */
export function draftOf(form: Form): Read {
  const input = inputOf(form.input);
  if ('problem' in input) return input;
  return { draft: { kind: form.kind, name: form.name.trim(), settings: settingsOf(form, input.value) } };
}

function settingsOf(form: Form, input: Json | undefined): JsonObject {
  const given: JsonObject = input === undefined ? {} : { input };
  if (form.kind === 'schedule') {
    return { ...given, cron: form.cron, zone: form.zone, overlap: form.overlap, misfire: form.misfire };
  }
  if (form.kind === 'webhook') return { security: form.security, answer: form.answer };
  return { ...given, source: form.source, on: form.on };
}

function inputOf(text: string): { value: Json | undefined } | { problem: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: parseJson(text) as Json };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The problem of a field, as the server names it: `settings.cron`, or `settings.headers.0` for a part of one. */
export function problemAt(problems: readonly { field: string; message: string }[], name: string): string | undefined {
  return problems.find((one) => one.field === name || one.field.startsWith(`${name}.`))?.message;
}

export const isSecret = (made: unknown): made is { secret: string; path: string } =>
  isObject(made) && typeof made.secret === 'string' && typeof made.path === 'string';
