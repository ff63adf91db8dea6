/**
 * What is true of the draft's safety, as a state machine. It knows no network and no clock: `useAutosave` asks it what to do.
 *
 *   saved --edited--> waiting --began--> saving --saved--> saved | waiting (edited meanwhile)
 *   saving --unreachable--> offline --began--> saving      saving --conflict--> conflict --chose--> waiting
 *   saving --refused--> refused --edited--> waiting
 */
import type { GraphDocument } from '../../../diagram';

export interface Theirs {
  revision: number;
  graph: GraphDocument;
  updated_by: string | null;
  updated_at: string;
}

export type SaveState = { revision: number } & (
  | { kind: 'saved' }
  | { kind: 'waiting' }
  | { kind: 'saving'; editedMeanwhile: boolean; failures: number }
  | { kind: 'offline'; failures: number }
  | { kind: 'refused'; reason: string }
  | { kind: 'conflict'; theirs: Theirs }
);

export type SaveEvent =
  | { type: 'edited' }
  | { type: 'began' }
  | { type: 'saved'; revision: number }
  | { type: 'unreachable' }
  | { type: 'refused'; reason: string }
  | { type: 'conflict'; theirs: Theirs }
  /** The person kept their own document, which replaces the other one; or took the other one. */
  | { type: 'chose'; keep: 'mine' | 'theirs' };

export function nextSaveState(state: SaveState, event: SaveEvent): SaveState {
  const { revision } = state;
  switch (event.type) {
    case 'edited':
      return whenEdited(state);
    case 'began':
      return state.kind === 'conflict'
        ? state
        : { kind: 'saving', revision, editedMeanwhile: false, failures: failuresOf(state) };
    case 'saved':
      if (state.kind !== 'saving') return { ...state, revision: Math.max(revision, event.revision) };
      return { kind: state.editedMeanwhile ? 'waiting' : 'saved', revision: event.revision };
    case 'unreachable':
      return { kind: 'offline', revision, failures: failuresOf(state) + 1 };
    case 'refused':
      return { kind: 'refused', revision, reason: event.reason };
    case 'conflict':
      return { kind: 'conflict', revision, theirs: event.theirs };
    case 'chose':
      if (state.kind !== 'conflict') return state;
      return { kind: event.keep === 'mine' ? 'waiting' : 'saved', revision: state.theirs.revision };
  }
}

function whenEdited(state: SaveState): SaveState {
  switch (state.kind) {
    case 'saving':
      return state.editedMeanwhile ? state : { ...state, editedMeanwhile: true };
    case 'offline':
    case 'conflict':
    case 'waiting':
      return state;
    case 'saved':
    case 'refused':
      return { kind: 'waiting', revision: state.revision };
  }
}

const failuresOf = (state: SaveState): number =>
  state.kind === 'offline' || state.kind === 'saving' ? state.failures : 0;

const PAUSE_MS = 700;
const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 30_000;

/** How long until the next try to save; null where nothing is to be saved or a person has to choose first. */
export function saveDelay(state: SaveState): number | null {
  if (state.kind === 'waiting') return PAUSE_MS;
  if (state.kind === 'offline') return Math.min(FIRST_RETRY_MS * 2 ** (state.failures - 1), LAST_RETRY_MS);
  return null;
}

/** Everything that was done is on the server. */
export const isSafe = (state: SaveState): boolean => state.kind === 'saved';
