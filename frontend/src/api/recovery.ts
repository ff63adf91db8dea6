/** What people do to a run that cannot go on, or that shall go another way; and what each of it would do. */
import type { Json } from '../lib/json';
import { request } from './client';
import { type RunRef, runAt, stepAt } from './runs';
import type { Breakpoint, Decision, ResumePreview, Run } from './types';

export type Operation =
  | { kind: 'resume'; paths?: string[] }
  | { kind: 'retry_now'; path: string }
  | { kind: 'skip'; path: string }
  | { kind: 'supply_output'; path: string; output: Json; port: string | null }
  | { kind: 'edit_input'; path: string; input: Json }
  | { kind: 'decide'; path: string; decision: Decision; output: Json }
  | { kind: 'fork'; path: string; version: number | null; same_effects: boolean };

export type OperationKind = Operation['kind'];

/** What was seen: the act does just that, or is refused. */
export interface Seen {
  command_id: string;
  generation: number;
  plan: string | null;
}

/** `run` of a fork: the new one. */
export interface Done {
  run: Run | null;
}

/** What a preview needs to know: an output by hand changes no plan, and may be long. */
function asked({ kind, ...operation }: Operation): { [name: string]: unknown } {
  const { output: _, ...fields } = { output: null, ...operation };
  return { operation: kind, ...fields };
}

export const previewOperation = (ref: RunRef, operation: Operation) =>
  request<ResumePreview>(`${runAt(ref)}/preview`, { method: 'POST', body: asked(operation) });

const DOORS = {
  retry_now: 'retry-now',
  skip: 'skip',
  supply_output: 'supply',
  edit_input: 'edit-input',
  decide: 'decide',
} as const;

export async function performOperation(ref: RunRef, operation: Operation, seen: Seen): Promise<Done> {
  if (operation.kind === 'fork') {
    const { kind: _, ...fields } = operation;
    return { run: await request<Run>(`${runAt(ref)}/fork`, { method: 'POST', body: { ...seen, ...fields } }) };
  }
  if (operation.kind === 'resume') {
    const { kind: _, ...fields } = operation;
    await request(`${runAt(ref)}/resume`, { method: 'POST', body: { ...seen, ...fields } });
    return { run: null };
  }
  const { kind, path, ...fields } = operation;
  await request(`${stepAt(ref, path)}/${DOORS[kind]}`, { method: 'POST', body: { ...seen, ...fields } });
  return { run: null };
}

export const setBreakpoints = (ref: RunRef, body: { command_id: string; breakpoints: readonly Breakpoint[] }) =>
  request<{ breakpoints: Breakpoint[] }>(`${runAt(ref)}/breakpoints`, { method: 'PUT', body });
