/** What a person can do to one step, by what became of it. The server decides; this says what is worth offering. */
import { useMay } from '../../api/workspace';
import { usePlan } from './plan';
import type { LiveStep, RunState } from './reducer';
import { useIsPast, useRunState } from './store';
import { isResumable } from './summary';

export type HandKind = 'retry_now' | 'edit_input' | 'skip' | 'supply_output' | 'fork';

export interface Possible {
  kind: HandKind;
  /** Why it cannot be done now, though the step is one of those that it is for. */
  reason: string | null;
}

export const HAND_WORDS: Readonly<Record<HandKind, { label: string; key: string }>> = {
  retry_now: { label: 'Retry now', key: 'n' },
  edit_input: { label: 'Edit input and resume', key: 'i' },
  skip: { label: 'Skip', key: 's' },
  supply_output: { label: 'Supply output', key: 'o' },
  fork: { label: 'Run again from here', key: 'f' },
};

const BEING_CANCELLED = 'The run is being cancelled.';
const WENT_ON = 'The flow went on in spite of the failure: run it again from here.';

function whyNotMended(step: LiveStep, run: Pick<RunState['run'], 'status'>): string | null {
  if (step.handled) return WENT_ON;
  if (run.status === 'cancelled') return 'The run was cancelled: resume it first.';
  if (run.status === 'cancelling') return BEING_CANCELLED;
  return run.status === 'succeeded' ? WENT_ON : null;
}

/** In the order in which they are offered. A step that needs a decision has its own form for these. */
export function possibleHands(step: LiveStep, run: Pick<RunState['run'], 'status'>): Possible[] {
  const found: Possible[] = [];
  if (step.status === 'retry_wait') {
    found.push({ kind: 'retry_now', reason: run.status === 'cancelling' ? BEING_CANCELLED : null });
  }
  if (step.status === 'failed') {
    const reason = whyNotMended(step, run);
    const ofItems = step.map
      ? 'It goes on with the items that it has opened: resume it, or run it again from here.'
      : null;
    found.push({ kind: 'edit_input', reason: reason ?? ofItems });
  }
  if (step.status === 'failed' || step.status === 'blocked') {
    const reason = whyNotMended(step, run);
    found.push({ kind: 'skip', reason }, { kind: 'supply_output', reason });
  }
  found.push({ kind: 'fork', reason: null });
  return found;
}

/** Whether a resume may begin at a step: a failed branch of an open run, or whatever stopped in one that has ended. */
export function useCanResume(): (step: LiveStep) => boolean {
  const { mayOpen } = usePlan();
  const isPast = useIsPast();
  const isOver = useRunState((state) => isResumable(state.run));
  return ({ status }) =>
    mayOpen && !isPast && (status === 'failed' || (isOver && (status === 'cancelled' || status === 'blocked')));
}

export interface Hand extends Possible {
  label: string;
  key: string;
  act: () => void;
}

/** What the viewer can do to a step now; nothing for a viewer. */
export function useHands(step: LiveStep | undefined): Hand[] {
  const isPast = useIsPast();
  const may = useMay('run') && !isPast;
  const plan = usePlan();
  const status = useRunState((state) => state.run.status);
  if (!may || !step) return [];
  const { path } = step;
  const begin = (kind: HandKind) => {
    plan.setDraft(kind === 'edit_input' || kind === 'supply_output' ? { kind, path } : null);
    if (kind === 'fork') plan.open({ kind, path, version: null, same_effects: false });
    else if (kind === 'skip' || kind === 'retry_now') plan.open({ kind, path });
    else plan.close();
  };
  return possibleHands(step, { status }).map((one) => ({
    ...one,
    ...HAND_WORDS[one.kind],
    act: () => one.reason === null && begin(one.kind),
  }));
}
