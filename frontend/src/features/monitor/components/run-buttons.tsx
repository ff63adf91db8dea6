import { Button, Menu } from '@mantine/core';
import {
  IconDots,
  IconLink,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerSkipForward,
  IconSquare,
} from '@tabler/icons-react';

import { useMay } from '../../../api/workspace';
import { notifyDone } from '../../../components/ui/notify';
import { useCancelRun, usePause } from '../commands';
import { usePlan } from '../plan';
import { firstAgain } from '../plan-words';
import { useIsPast, useRunState } from '../store';
import { isCancellable, nameOf } from '../summary';
import classes from './run-view.module.css';

/** What can be done to the run as a whole. */
export function RunButtons() {
  const isPast = useIsPast();
  return (
    <div className={classes.buttons}>
      {isPast ? null : <ResumeButton />}
      {isPast ? null : <PauseButton />}
      <MoreMenu />
    </div>
  );
}

/** Continuing is the one main act of a paused run; pausing is one of several of a running one. */
function PauseButton() {
  const { isPaused, isPossible, isBusy, toggle } = usePause();
  if (!isPossible) return null;
  const icon = isPaused ? <IconPlayerPlay size={15} /> : <IconPlayerPause size={15} />;
  return (
    <Button variant={isPaused ? 'filled' : 'default'} leftSection={icon} loading={isBusy} onClick={toggle}>
      {isPaused ? 'Continue' : 'Pause'}
    </Button>
  );
}

function ResumeButton() {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  if (!plan.mayOpen || plan.operation) return null;
  const first = plan.preview ? firstAgain(plan.preview, graph) : undefined;
  return (
    <Button
      leftSection={<IconPlayerSkipForward size={15} />}
      disabled={plan.preview?.allowed === false}
      onClick={() => plan.open({ kind: 'resume' })}
      className={classes.resume}
    >
      {first ? `Resume from ${nameOf(graph, first)}` : 'Resume'}
    </Button>
  );
}

function MoreMenu() {
  const cancellable = useRunState((state) => isCancellable(state.run));
  const isPast = useIsPast();
  const may = useMay('run') && !isPast;
  const cancel = useCancelRun();
  const copyLink = async () => {
    await navigator.clipboard.writeText(window.location.href);
    notifyDone('The link was copied. It opens this run with this selection.');
  };
  return (
    <>
      {cancellable && may ? (
        <Button variant="default" leftSection={<IconSquare size={13} />} onClick={cancel.ask} loading={cancel.isBusy}>
          Cancel run
        </Button>
      ) : null}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px={8} aria-label="More about this run">
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconLink size={15} />} onClick={() => void copyLink()}>
            Copy link to this view
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
