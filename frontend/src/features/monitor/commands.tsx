import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { cancelRun, type DecideCommand, decideStep, newCommandId } from '../../api/runs';
import { notifyFailure } from '../../components/ui/notify';
import { useMonitor, useRunState } from './store';

/** Cancelling asks once, since running steps are stopped in the middle of what they do. */
export function useCancelRun() {
  const { ref, refresh } = useMonitor();
  const running = useRunState((state) => [...state.steps.values()].filter((step) => step.status === 'running').length);
  const cancel = useMutation({
    mutationFn: () => cancelRun(ref, { command_id: newCommandId() }),
    onError: (error) => notifyFailure('The run was not cancelled', error),
    onSettled: () => refresh(),
  });
  const ask = () =>
    modals.openConfirmModal({
      title: 'Cancel this run?',
      children: (
        <Text size="sm">
          {running > 0
            ? `${running === 1 ? 'The step that runs now is' : `The ${running} steps that run now are`} stopped in the middle. `
            : ''}
          Finished steps are kept: the run can be resumed later.
        </Text>
      ),
      labels: { confirm: 'Cancel the run', cancel: 'Let it go on' },
      confirmProps: { color: 'red' },
      onConfirm: () => cancel.mutate(),
    });
  return { ask, isBusy: cancel.isPending };
}

/** Settles what became of a step whose outcome is unknown. */
export function useDecide(path: string) {
  const { ref, refresh } = useMonitor();
  const generation = useRunState((state) => state.run.generation);
  const [command] = useState(newCommandId);
  return useMutation({
    mutationFn: (choice: Pick<DecideCommand, 'decision' | 'output'>) =>
      decideStep(ref, path, { command_id: command, generation, ...choice }),
    onError: (error) => notifyFailure('The decision was not taken', error),
    onSettled: () => refresh(),
  });
}
