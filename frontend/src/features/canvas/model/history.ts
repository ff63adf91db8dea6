import type { GraphDocument } from '../../../diagram';

/**
 * What a change leaves in the history. 'step': an entry of its own. 'typing': one entry for all changes of the same `topic`
 * within a second of each other. 'never': no entry (what comes from the server).
 */
export type HistoryPolicy = { kind: 'step' } | { kind: 'typing'; topic: string } | { kind: 'never' };

export interface Moment {
  document: GraphDocument;
  selection: ReadonlySet<string>;
}

interface Entry extends Moment {
  /** What undo would take back: 'Delete 2 steps'. */
  label: string;
}

export interface History {
  past: readonly Entry[];
  future: readonly Entry[];
  typing: { topic: string; at: number } | null;
}

export const NO_HISTORY: History = { past: [], future: [], typing: null };
const LONGEST = 200;
const PAUSE_MS = 1000;

export interface Change {
  label: string;
  policy: HistoryPolicy;
  /** The moment before the change. */
  before: Moment;
  now: number;
}

export function record(history: History, { label, policy, before, now }: Change): History {
  if (policy.kind === 'never') return history;
  if (policy.kind === 'step') return push(history, { ...before, label }, null);
  const goesOn =
    history.typing?.topic === policy.topic && now - history.typing.at < PAUSE_MS && history.future.length === 0;
  const typing = { topic: policy.topic, at: now };
  return goesOn ? { ...history, typing } : push(history, { ...before, label }, typing);
}

function push(history: History, entry: Entry, typing: History['typing']): History {
  return { past: [...history.past.slice(1 - LONGEST), entry], future: [], typing };
}

export interface Travel {
  history: History;
  moment: Moment;
  label: string;
}

export function undo(history: History, present: Moment): Travel | null {
  const entry = history.past.at(-1);
  if (!entry) return null;
  const future = [...history.future, { ...present, label: entry.label }];
  return { history: { past: history.past.slice(0, -1), future, typing: null }, moment: entry, label: entry.label };
}

export function redo(history: History, present: Moment): Travel | null {
  const entry = history.future.at(-1);
  if (!entry) return null;
  const past = [...history.past, { ...present, label: entry.label }];
  return { history: { past, future: history.future.slice(0, -1), typing: null }, moment: entry, label: entry.label };
}
