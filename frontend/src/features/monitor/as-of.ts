import type { StepDetail, StepValue } from '../../api/types';
import type { LiveStep } from './reducer';

const NOTHING: StepValue = { value: null, size: 0, truncated: false };

/** What was there of a step at a moment: no attempt that ended later, no output before it was committed. */
export function asOf(detail: StepDetail, step: LiveStep, moment: string): StepDetail {
  const until = Date.parse(moment);
  const was = (at: string) => Date.parse(at) <= until;
  const isSame = step.attempt === detail.step.attempt;
  return {
    ...detail,
    step,
    input: isSame && step.attempt > 0 ? detail.input : NOTHING,
    output: isSame && step.status === 'succeeded' ? detail.output : NOTHING,
    attempts: detail.attempts.filter((one) => was(one.finished_at)),
    checkpoints: detail.checkpoints.filter((one) => was(one.at)),
    artifacts: detail.artifacts.filter((one) => was(one.at)),
    waits: detail.waits.filter((one) => was(one.opened_at)),
    why: null,
  };
}
