import type { StepStatus } from './types';

export interface StatusLook {
  word: string;
  /** Said on hover where the caller knows nothing better. */
  meaning: string;
  /** Name of the colour token: `--status-<token>`, and `--status-<token>-soft` for its background. */
  token: string;
}

/** Shape, word and colour of each status. The colour never stands alone. */
export const STATUS_LOOKS: Readonly<Record<StepStatus, StatusLook>> = {
  pending: { word: 'pending', meaning: 'Has not begun; it waits for the steps before it.', token: 'pending' },
  ready: { word: 'ready', meaning: 'May start; a worker will take it.', token: 'ready' },
  running: { word: 'running', meaning: 'A worker executes it now.', token: 'running' },
  was_running: {
    word: 'was running',
    meaning: 'Was running when Pawl was last heard; what became of it is not known here.',
    token: 'pending',
  },
  waiting: {
    word: 'waiting',
    meaning: 'Waits for something outside: a time, a person or its items.',
    token: 'waiting',
  },
  retry_wait: { word: 'retrying', meaning: 'An attempt failed; the next one starts by itself.', token: 'retrying' },
  needs_decision: {
    word: 'needs decision',
    meaning: 'It may or may not have happened. A person decides before anything runs again.',
    token: 'decision',
  },
  failed: { word: 'failed', meaning: 'Its last attempt ended without a result.', token: 'failed' },
  blocked: { word: 'blocked', meaning: 'Cannot start because a step before it failed.', token: 'blocked' },
  skipped: { word: 'skipped', meaning: 'Was left out; nothing ran.', token: 'skipped' },
  not_reached: {
    word: 'not reached',
    meaning: 'A step that it needs failed; a resume opens it again.',
    token: 'pending',
  },
  reused: { word: 'kept', meaning: 'Finished earlier; its result is kept and it does not run again.', token: 'reused' },
  succeeded: { word: 'succeeded', meaning: 'Finished; its result is committed.', token: 'succeeded' },
  cancelled: { word: 'cancelled', meaning: 'Was stopped by a person.', token: 'cancelled' },
};
