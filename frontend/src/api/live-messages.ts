import { parseJson } from '../lib/json';
import type { Run, RunEvent } from './types';

/** What the server says over /ws/live. */
export type ServerMessage =
  | { type: 'events'; run: string; events: RunEvent[]; last: number }
  | { type: 'list'; runs: Run[] }
  | { type: 'pong'; n: number }
  | { type: 'lagging'; run: string; last: number }
  | { type: 'refused'; run: string | null; code: string; message: string }
  | { type: 'waits'; count: number };

export type ClientMessage =
  | { subscribe: { workspace: string; run: string; after: number } }
  | { subscribe: { workspace: string; list: true } }
  | { unsubscribe: { run: string } }
  | { seen: { run: string; seq: number } }
  | { ping: number };

const KNOWN = new Set(['events', 'list', 'pong', 'lagging', 'refused', 'waits']);

/** Reads a frame; a message that this version does not know is null, and left alone. */
export function readMessage(text: string): ServerMessage | null {
  try {
    const message = parseJson(text) as ServerMessage;
    return KNOWN.has(message.type) ? message : null;
  } catch {
    return null;
  }
}
