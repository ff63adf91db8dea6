import { ApiError } from '../../api/errors';
import { formatJson, type Json, parseJson } from '../../lib/json';

export interface ReadJson {
  value: Json | undefined;
  problem: string | null;
}

/** JSON as a person typed it, with integers of 64 bits as they are; or what is wrong with it. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: undefined, problem: 'Enter a JSON value: null, if there is nothing to say.' };
  try {
    return { value: parseJson(text) as Json, problem: null };
  } catch (error) {
    return { value: undefined, problem: `This is not JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}

export const writeJson = (value: unknown): string => formatJson(value, 2);

/** What the server says of the fields of a value that was sent, each in a sentence. */
export function fieldSentences(error: unknown): string[] {
  if (!(error instanceof ApiError)) return [];
  return error.fields.map(({ field, message }) => `${field.replace(/^input\.?/, '') || 'The input'}: ${message}`);
}
