import type { ServerMessage } from '../api/live-messages';
import type { Snapshot, Step } from '../api/types';

export interface GoldenCase {
  name: string;
  snapshot: Snapshot;
  messages: Extract<ServerMessage, { type: 'events' }>[];
  expected: Snapshot;
}

const WITH_ERROR = new Set(['failed', 'retry_wait', 'needs_decision']);
const WITH_END = new Set(['succeeded', 'failed', 'skipped', 'cancelled', 'running', 'ready']);

function comparableStep(step: Step) {
  const { status, attempt, port, reason, handled, wait, map, fence, crash_count } = step;
  return {
    ...{ status, attempt, port, reason, handled, wait, map, fence, crash_count },
    hasStarted: step.started_at !== null,
    ...(WITH_ERROR.has(status) ? { error: step.error } : {}),
    ...(status === 'succeeded' ? { origin: step.origin } : {}),
    ...(WITH_END.has(status) ? { hasEnded: step.finished_at !== null } : {}),
  };
}

/** What the browser's state and the server's snapshot must agree on (golden/README.md). */
export function comparable({ run, steps, seq }: Pick<Snapshot, 'run' | 'seq'> & { steps: Iterable<Step> }) {
  return {
    run: {
      ...{ status: run.status, generation: run.generation, paused_at: run.paused_at, error: run.error },
      hasEnded: run.finished_at !== null,
    },
    steps: Object.fromEntries([...steps].map((step) => [step.path, comparableStep(step)])),
    seq,
  };
}
