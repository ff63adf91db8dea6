import { Button } from '@mantine/core';
import { IconArrowRight, IconHourglass, IconPlayerPlay, IconPlayerSkipForward } from '@tabler/icons-react';
import { useNavigate } from 'react-router';

import type { StepDetail } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { useNow } from '../../../hooks/use-now';
import { formatDuration, formatExact } from '../../../lib/format';
import { paths } from '../../../lib/paths';
import { usePause } from '../commands';
import { useCanResume } from '../hands';
import { usePlan } from '../plan';
import type { LiveStep } from '../reducer';
import { useSelection } from '../selection';
import { useIsPast, useRunState } from '../store';
import { nameOf } from '../summary';
import { useUsual } from '../usual';
import { type Unblock, whyOf } from '../why';
import classes from './step-panel.module.css';

/** Why the step does not run, since when, how long that usually takes, and what unblocks it elsewhere: what can be done
 * with the step itself stands among its own buttons. */
export function WhyPanel({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const state = useRunState((run) => run);
  const usual = useUsual().get(step.node);
  const isPast = useIsPast();
  const why = isPast ? null : whyOf(step, { state, detail, usual });
  const now = useNow(1000, why?.since !== null && why !== null);
  if (!why) return null;
  const waited = why.since === null ? null : formatDuration(Math.max(0, now - Date.parse(why.since)));
  return (
    <section className={classes.whyPanel} aria-label="Why it is not running">
      <div className={classes.why}>
        <IconHourglass size={15} aria-hidden="true" />
        <div>
          <div>{why.sentence}</div>
          {waited ? (
            <div className={classes.since}>
              For <time title={formatExact(why.since)}>{waited}</time> now{why.usual ? `; ${why.usual}` : ''}.
            </div>
          ) : null}
        </div>
      </div>
      {why.acts.length > 0 ? (
        <div className={classes.actions}>
          {why.acts.map((act) => (
            <UnblockButton key={act.kind} act={act} />
          ))}
        </div>
      ) : null}
    </section>
  );
}

function UnblockButton({ act }: { act: Unblock }) {
  switch (act.kind) {
    case 'go':
      return <GoTo path={act.path} />;
    case 'resume':
      return <ResumeFrom path={act.path} />;
    case 'continue':
      return <Continue />;
    case 'open_run':
      return <OpenRun run={act.run} number={act.number} />;
  }
}

function GoTo({ path }: { path: string }) {
  const { selectStep } = useSelection();
  const graph = useRunState((state) => state.graph);
  return (
    <Button variant="default" size="xs" rightSection={<IconArrowRight size={14} />} onClick={() => selectStep(path)}>
      Go to {nameOf(graph, path)}
    </Button>
  );
}

function ResumeFrom({ path }: { path: string }) {
  const plan = usePlan();
  const canResume = useCanResume();
  const failed = useRunState((state) => state.steps.get(path));
  const graph = useRunState((state) => state.graph);
  if (!failed || !canResume(failed)) return null;
  return (
    <Button
      size="xs"
      leftSection={<IconPlayerSkipForward size={15} />}
      onClick={() => plan.open({ kind: 'resume', paths: [path] })}
    >
      Resume from {nameOf(graph, path)}
    </Button>
  );
}

function Continue() {
  const { isPaused, isPossible, isBusy, toggle } = usePause();
  if (!isPaused || !isPossible) return null;
  return (
    <Button size="xs" leftSection={<IconPlayerPlay size={15} />} loading={isBusy} onClick={toggle}>
      Continue the run
    </Button>
  );
}

function OpenRun({ run, number }: { run: string; number: number }) {
  const ws = useWorkspace();
  const navigate = useNavigate();
  return (
    <Button
      variant="default"
      size="xs"
      rightSection={<IconArrowRight size={14} />}
      onClick={() => void navigate(paths.run(ws, run))}
    >
      Open run {number}
    </Button>
  );
}
