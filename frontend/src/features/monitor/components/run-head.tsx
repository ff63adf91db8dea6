import { SegmentedControl } from '@mantine/core';
import { Link } from 'react-router';

import { useWorkspace } from '../../../api/workspace';
import { RunStatusBadge } from '../../../components/ui/run-status';
import { Elapsed, TimeAgo } from '../../../components/ui/time';
import { paths } from '../../../lib/paths';
import { knownUntil, useFreshness } from '../freshness';
import { usePlan } from '../plan';
import { planSentence } from '../plan-words';
import { useSelection, VIEWS, type View } from '../selection';
import { useIsPast, useRunState } from '../store';
import { headSentence, isActive, progressOf } from '../summary';
import { StartedByStep } from './child-run';
import { ForkOrigin, Forks } from './forks';
import { RunButtons } from './run-buttons';
import classes from './run-view.module.css';

const VIEW_NAMES: Readonly<Record<View, string>> = { canvas: 'Canvas', timeline: 'Timeline', events: 'Events' };

/** Says in one sentence what happened, and what the next click does. */
export function RunHead() {
  const run = useRunState((state) => state.run);
  const sentence = useRunState(headSentence);
  const isWaiting = useRunState((state) => !isActive(state));
  const freshness = useFreshness();
  const isPast = useIsPast();
  const { view, setView } = useSelection();
  const plan = usePlan();
  return (
    <header className={classes.head}>
      <div className={classes.headText}>
        <div className={classes.headLine}>
          <h1 className={classes.title}>Run {run.number}</h1>
          <RunStatusBadge status={run.status} isWaiting={isWaiting} isLost={isPast || freshness.how === 'lost'} />
          <span className={classes.meta}>
            <Origin /> · <TimeAgo at={run.started_at} />
            {isPast ? null : ` · ${run.finished_at ? 'took' : 'for'} `}
            {isPast ? null : <Elapsed from={run.started_at} to={run.finished_at ?? knownUntil(freshness)} />}
            {run.pause ? (
              <>
                {' · paused '}
                <TimeAgo at={run.pause.since} />
              </>
            ) : null}
          </span>
          <Forks />
        </div>
        <p className={classes.sentence} title={sentence} data-testid="head-sentence">
          {sentence}
        </p>
        <NextClick />
      </div>
      <div className={classes.headActions}>
        <RunButtons />
        <SegmentedControl
          aria-label="View of the run"
          value={plan.operation ? 'canvas' : view}
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
      <ForkOrigin />
    </>
  );
}

function NextClick() {
  const { operation, preview, mayOpen } = usePlan();
  const isPast = useIsPast();
  const graph = useRunState((state) => state.graph);
  const done = useRunState((state) => progressOf(state).done);
  const total = useRunState((state) => progressOf(state).total);
  const status = useRunState((state) => state.run.status);
  if (preview && mayOpen && !isPast && (operation === null || operation.kind === 'resume')) {
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

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
