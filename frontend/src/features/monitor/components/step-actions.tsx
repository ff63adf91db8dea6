import { Button } from '@mantine/core';
import { IconPlayerSkipForward } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';

import { keys } from '../../../api/query-keys';
import type { StepWait } from '../../../api/types';
import { useMay } from '../../../api/workspace';
import { Question } from '../../../components/approval/question';
import { usePlan } from '../plan';
import type { LiveStep } from '../reducer';
import { useMonitor, useRunState } from '../store';
import { isResumable, nameOf } from '../summary';
import { CallbackLink } from './callback-link';
import { DecideForm } from './decide-form';
import classes from './step-panel.module.css';

/** What a person can do with this step now. */
export function StepActions({ step, waits }: { step: LiveStep; waits: readonly StepWait[] }) {
  if (step.status === 'needs_decision') return <DecideForm step={step} />;
  if (step.status === 'waiting' && step.map === null) return <Questions step={step} waits={waits} />;
  return <ResumeHere step={step} />;
}

function ResumeHere({ step }: { step: LiveStep }) {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  const run = useRunState((state) => state.run);
  const canGoOn = step.status === 'failed' || step.status === 'cancelled' || step.status === 'blocked';
  if (!canGoOn || !plan.mayOpen || plan.isOpen || (!isResumable(run) && step.status !== 'failed')) return null;
  return (
    <div className={classes.actions}>
      <Button leftSection={<IconPlayerSkipForward size={15} />} onClick={() => plan.open([step.path])}>
        Resume from {nameOf(graph, step.path)}
      </Button>
    </div>
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
