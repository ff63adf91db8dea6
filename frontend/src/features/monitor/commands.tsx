import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation } from '@tanstack/react-query';

import { cancelRun, newCommandId, pauseRun, unpauseRun } from '../../api/runs';
import { useMay } from '../../api/workspace';
import { notifyFailure } from '../../components/ui/notify';
import { useMonitor, useLiveRunState as useRunState } from './store';

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

/** Pausing and continuing ask nothing: neither loses anything, and each takes the other back. */
export function usePause() {
  const { ref, refresh } = useMonitor();
  const may = useMay('run');
  const status = useRunState((state) => state.run.status);
  const isHeld = useRunState((state) => state.run.paused_by === 'parent'); // it goes on when its parent does
  const toggle = useMutation({
    mutationFn: (isPaused: boolean) => (isPaused ? unpauseRun : pauseRun)(ref, { command_id: newCommandId() }),
    onError: (error, isPaused) =>
      notifyFailure(isPaused ? 'The run was not continued' : 'The run was not paused', error),
    onSettled: () => refresh(),
  });
  const isPaused = status === 'paused';
  const isPossible = may && ((isPaused && !isHeld) || status === 'running');
  return {
    isPaused,
    isPossible,
    isBusy: toggle.isPending,
    toggle: () => isPossible && !toggle.isPending && toggle.mutate(isPaused),
  };
}
