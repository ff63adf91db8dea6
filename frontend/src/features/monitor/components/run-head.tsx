import { Button, Menu, SegmentedControl } from '@mantine/core';
import { IconDots, IconLink, IconPlayerSkipForward, IconSquare } from '@tabler/icons-react';
import { Link } from 'react-router';

import { useMay, useWorkspace } from '../../../api/workspace';
import { notifyDone } from '../../../components/ui/notify';
import { RunStatusBadge } from '../../../components/ui/run-status';
import { Elapsed, TimeAgo } from '../../../components/ui/time';
import { paths } from '../../../lib/paths';
import { useCancelRun } from '../commands';
import { usePlan } from '../plan';
import { useSelection, VIEWS, type View } from '../selection';
import { useRunState } from '../store';
import { firstAgain, headSentence, isActive, isCancellable, nameOf, planSentence, progressOf } from '../summary';
import { StartedByStep } from './child-run';
import classes from './run-view.module.css';

const VIEW_NAMES: Readonly<Record<View, string>> = { canvas: 'Canvas', timeline: 'Timeline', events: 'Events' };

/** Says in one sentence what happened, and what the next click does. */
export function RunHead() {
  const run = useRunState((state) => state.run);
  const sentence = useRunState(headSentence);
  const isWaiting = useRunState((state) => !isActive(state));
  const { view, setView } = useSelection();
  const plan = usePlan();
  return (
    <header className={classes.head}>
      <div className={classes.headText}>
        <div className={classes.headLine}>
          <h1 className={classes.title}>Run {run.number}</h1>
          <RunStatusBadge status={run.status} isWaiting={isWaiting} />
          <span className={classes.meta}>
            <Origin /> · <TimeAgo at={run.started_at} /> · {run.finished_at ? 'took' : 'for'}{' '}
            <Elapsed from={run.started_at} to={run.finished_at} />
          </span>
        </div>
        <p className={classes.sentence} title={sentence} data-testid="head-sentence">
          {sentence}
        </p>
        <NextClick />
      </div>
      <div className={classes.headActions}>
        <div className={classes.buttons}>
          <ResumeButton />
          <MoreMenu />
        </div>
        <SegmentedControl
          aria-label="View of the run"
          value={plan.isOpen ? 'canvas' : view}
          onChange={(value) => setView(value as View)}
          data={VIEWS.map((value) => ({ value, label: VIEW_NAMES[value] }))}
        />
      </div>
    </header>
  );
}

function Origin() {
  const ws = useWorkspace();
  const { workflow, version, started_by: by } = useRunState((state) => state.run);
  return (
    <>
      <Link to={paths.workflow(ws, workflow.id)} className={classes.quiet}>
        {workflow.name}
      </Link>{' '}
      v{version} · started by {by || 'the system'}
      <StartedByStep />
    </>
  );
}

function NextClick() {
  const { preview, mayOpen } = usePlan();
  const graph = useRunState((state) => state.graph);
  const done = useRunState((state) => progressOf(state).done);
  const total = useRunState((state) => progressOf(state).total);
  const status = useRunState((state) => state.run.status);
  if (preview && mayOpen) {
    return (
      <p className={classes.next}>
        {preview.allowed
          ? `Resume ${lowerFirst(planSentence(preview, graph))}`
          : (preview.refusal ?? 'This run cannot be resumed.')}
      </p>
    );
  }
  const percent = total > 0 ? (done / total) * 100 : 0;
  return (
    <div className={classes.progress} role="img" aria-label={`${done} of ${total} steps done`}>
      <div className={classes.bar}>
        <div className={classes.fill} data-status={status} style={{ width: `${percent}%` }} />
      </div>
      <span className="num">
        {done} of {total} steps
      </span>
    </div>
  );
}

function ResumeButton() {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  if (!plan.mayOpen || plan.isOpen) return null;
  const first = plan.preview ? firstAgain(plan.preview, graph) : undefined;
  return (
    <Button
      leftSection={<IconPlayerSkipForward size={15} />}
      disabled={plan.preview?.allowed === false}
      onClick={() => plan.open()}
      className={classes.resume}
    >
      {first ? `Resume from ${nameOf(graph, first)}` : 'Resume'}
    </Button>
  );
}

function MoreMenu() {
  const cancellable = useRunState((state) => isCancellable(state.run));
  const may = useMay('run');
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

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
