import { formatJson, parseJson } from '../lib/json';
import { ApiError, errorFrom } from './errors';

export type Query = { [name: string]: string | number | readonly string[] | null | undefined };

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Query;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export function readCookie(name: string, cookies: string = document.cookie): string {
  for (const part of cookies.split('; ')) {
    const [key, ...value] = part.split('=');
    if (key === name) return decodeURIComponent(value.join('='));
  }
  return '';
}

/** Django takes either: the cookie, which follows a new sign-in in another tab, or what the page was drawn with. */
export function csrfToken(): string {
  return readCookie('csrftoken') || (document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? '');
}

export function queryString(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue;
    const text = Array.isArray(value) ? value.join(',') : String(value);
    if (text) search.set(name, text);
  }
  const text = search.toString();
  return text ? `?${text}` : '';
}

/** One call of the API. Answers exact JSON (long integers as bigint); throws ApiError for every refusal. */
export async function request<T>(
  path: string,
  { method = 'GET', query, body, signal }: RequestOptions = {},
): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET') headers['X-CSRFToken'] = csrfToken();
  const init: RequestInit = { method, headers, credentials: 'same-origin' };
  if (body !== undefined) init.body = formatJson(body);
  if (signal) init.signal = signal;
  let response: Response;
  let text: string;
  try {
    response = await fetch(`/api${path}${queryString(query)}`, init);
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError({
      code: 'unreachable',
      status: 0,
      detail: 'Pawl does not answer. It is tried again by itself.',
    });
  }
  const parsed = readBody(text);
  if (!response.ok) throw errorFrom(response.status, parsed);
  if (parsed === undefined && text) throw errorFrom(response.status, undefined);
  return parsed as T;
}

function readBody(text: string): unknown {
  if (!text) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Goes to the sign-in page and comes back to the present address. */
export function goToSignIn(): void {
  const here = window.location.pathname + window.location.search;
  window.location.assign(`/accounts/login/?next=${encodeURIComponent(here)}`);
}
