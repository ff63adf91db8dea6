import { HttpResponse } from 'msw';

import { formatJson } from '../../lib/json';

/** Integers beyond 2^53 must leave as they are, hence not HttpResponse.json. */
export function json(body: unknown, status = 200): Response {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  return new HttpResponse(formatJson(body), { status, headers: { 'Content-Type': type } });
}

export function problem(status: number, code: string, detail: string, data: object = {}): Response {
  return json({ type: 'about:blank', title: code, status, code, detail, data }, status);
}

export const missing = () => problem(404, 'not_found', 'There is no such thing here.');
export const api = (path: string) => `/api/workspaces/:ws/${path}`;
export const text = (value: unknown): string => decodeURIComponent(String(value));
