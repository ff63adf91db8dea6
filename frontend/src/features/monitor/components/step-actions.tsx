import { useQueryClient } from '@tanstack/react-query';

import { keys } from '../../../api/query-keys';
import type { StepDetail, StepWait } from '../../../api/types';
import { useMay } from '../../../api/workspace';
import { Question } from '../../../components/approval/question';
import type { LiveStep } from '../reducer';
import { useIsPast, useMonitor } from '../store';
import { CallbackLink } from './callback-link';
import { DecideForm } from './decide-form';
import { StepHands } from './step-hands';
import { ValueForm } from './value-form';

/** What a person can do with this step now. */
export function StepActions({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const isPast = useIsPast();
  if (isPast) return null;
  return (
    <>
      {step.status === 'needs_decision' ? <DecideForm step={step} /> : null}
      {step.status === 'waiting' && step.map === null ? <Questions step={step} waits={detail.waits} /> : null}
      <StepHands step={step} />
      <ValueForm step={step} detail={detail} />
    </>
  );
}

function Questions({ step, waits }: { step: LiveStep; waits: readonly StepWait[] }) {
  const { ref, refresh } = useMonitor();
  const may = useMay('approve');
  const client = useQueryClient();
  const open = waits.filter((wait) => wait.status === 'open');
  const onAnswered = () => {
    void refresh();
    void client.invalidateQueries({ queryKey: keys.waits(ref.ws) });
    void client.invalidateQueries({ queryKey: keys.run(ref.ws, ref.run) });
  };
  return open.map((wait) =>
    wait.kind === 'callback' ? (
      <CallbackLink key={wait.id} path={step.path} wait={wait} may={may} />
    ) : (
      <Question key={wait.id} ws={ref.ws} wait={wait} may={may} onAnswered={onAnswered} />
    ),
  );
}
