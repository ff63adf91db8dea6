import { IconLock } from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import { useParams } from 'react-router';

import { goToSignIn } from '../../api/client';
import type { ApiError } from '../../api/errors';
import { useLive } from '../../api/live';
import { useMay, useWorkspace } from '../../api/workspace';
import { useCrumbs } from '../../components/ui/crumbs';
import { useTitle } from '../../components/ui/page';
import { ErrorState, LoadingRows, StateView } from '../../components/ui/states';
import { paths } from '../../lib/paths';
import { RunView } from './components/run-view';
import { PlanContext, usePlanState } from './plan';
import { createMonitor, MonitorContext, useMonitorState, useRunState } from './store';

/** /w/:ws/runs/:id */
export function RunPage() {
  const { id = '' } = useParams();
  return <OneRun key={id} id={id} />;
}

function OneRun({ id }: { id: string }) {
  const ws = useWorkspace();
  const live = useLive();
  const [monitor] = useState(() => createMonitor({ ws, run: id }, live));
  useEffect(() => {
    monitor.start();
    return monitor.stop;
  }, [monitor]);
  return (
    <MonitorContext value={monitor}>
      <Gate />
    </MonitorContext>
  );
}

/** Shows the run once it is there. An error after that leaves the last known state on the screen. */
function Gate() {
  const isThere = useMonitorState((state) => state.run !== null);
  const error = useMonitorState((state) => state.error);
  const closed = useMonitorState((state) => state.closed);
  if (closed) return <Closed error={closed} />;
  if (isThere) return <There />;
  if (error) return <ErrorState error={error} what="this run" onRetry={() => window.location.reload()} />;
  return <LoadingRows label="Loading the run" />;
}

/** Signed out, or no longer a member: what is here now is not theirs to see. */
function Closed({ error }: { error: ApiError }) {
  useEffect(() => {
    if (error.status === 401 || error.code === 'not_signed_in') goToSignIn();
  }, [error]);
  return (
    <StateView tone="error" icon={<IconLock size={22} />} title="This run is no longer open to you">
      It may be gone, or your membership or role was changed while you looked at it.
    </StateView>
  );
}

function There() {
  const ws = useWorkspace();
  const number = useRunState((state) => state.run.number);
  const workflow = useRunState((state) => state.run.workflow);
  const may = useMay('run');
  const plan = usePlanState(may);
  const crumbs = useMemo(
    () => [{ label: workflow.name, to: paths.workflow(ws, workflow.id) }, { label: `Run ${number}` }],
    [ws, workflow, number],
  );
  useCrumbs(...crumbs);
  useTitle(`Run ${number} · ${workflow.name}`);
  return (
    <PlanContext value={plan}>
      <RunView />
    </PlanContext>
  );
}
