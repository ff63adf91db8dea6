import { ActionIcon, Tooltip } from '@mantine/core';
import { IconHandStop, IconInfoCircle, IconX } from '@tabler/icons-react';

import type { StepDetail } from '../../../api/types';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { StatusBadge } from '../../../diagram';
import { useBreakpoints } from '../breakpoints';
import { lastKnown, useFreshness } from '../freshness';
import { shownStatus, statusSentence } from '../node-status';
import type { LiveStep } from '../reducer';
import { useSelection } from '../selection';
import { useRunState } from '../store';
import { nameOf, nodeAt } from '../summary';
import { useStepDetail } from '../use-step';
import { AttemptChips } from './attempt-chips';
import { ChildRun } from './child-run';
import { ErrorBox } from './error-box';
import { MapItems } from './map-items';
import { StepActions } from './step-actions';
import { StepFacts } from './step-facts';
import classes from './step-panel.module.css';
import { StepPanes } from './step-panes';

/** Everything of one step run. */
export function StepPanel({ path }: { path: string }) {
  const live = useRunState((state) => state.steps.get(path));
  const graph = useRunState((state) => state.graph);
  const { selectStep } = useSelection();
  const detail = useStepDetail(path);
  const step = live ?? detail.data?.step;
  return (
    <aside className={classes.panel} aria-label={`Step ${nameOf(graph, path)}`}>
      <header className={classes.head}>
        <div className={classes.titleRow}>
          <div className={classes.titles}>
            <h2 className={classes.title}>{nameOf(graph, path)}</h2>
            <span className={classes.path}>{path}</span>
          </div>
          <BreakpointButton path={path} />
          <Tooltip label="Close (Esc)">
            <ActionIcon onClick={() => selectStep(null)} aria-label="Close the step">
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
        {step ? <StatusLine step={step} attempts={detail.data?.attempts ?? []} /> : null}
      </header>
      {detail.error && !detail.data ? (
        <ErrorState compact error={detail.error} what="this step" onRetry={detail.refetch} />
      ) : null}
      {detail.isPending ? <LoadingRows label="Loading the step" rows={5} /> : null}
      {step && detail.data ? <Body step={step} detail={detail.data} /> : null}
    </aside>
  );
}

/** Before every step run of its node: also the items that are still to come. */
function BreakpointButton({ path }: { path: string }) {
  const breakpoints = useBreakpoints();
  const node = useRunState(({ graph }) => nodeAt(graph, path));
  if (!breakpoints.may || !node || breakpoints.why(node) !== null) return null;
  const isSet = breakpoints.nodes.has(node.id);
  const label = isSet ? 'Remove the breakpoint' : 'Pause before this step';
  return (
    <Tooltip label={`${label} (B)`}>
      <ActionIcon
        className={classes.breakpoint}
        data-on={isSet || undefined}
        aria-label={label}
        loading={breakpoints.isBusy}
        onClick={() => breakpoints.toggle(node)}
      >
        <IconHandStop size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function StatusLine({ step, attempts }: { step: LiveStep; attempts: StepDetail['attempts'] }) {
  const isLost = useFreshness().how === 'lost';
  return (
    <>
      <div className={classes.statusRow}>
        <StatusBadge status={lastKnown(shownStatus(step), isLost)} sentence={statusSentence(step)} />
        {step.origin === 'manual' ? <span>manual</span> : null}
        {step.reused_from ? (
          <span>
            reused from run #{step.reused_from.number}, {step.reused_from.path}
          </span>
        ) : null}
        <AttemptChips step={step} attempts={attempts} />
      </div>
      <p className={classes.sentence}>{statusSentence(step)}</p>
    </>
  );
}

function Body({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const { attempt } = useSelection();
  const chosen = detail.attempts.find((one) => one.number === attempt);
  const isPast = chosen !== undefined && chosen.number !== step.attempt;
  const error = isPast ? chosen.error : (step.error ?? chosen?.error ?? null);
  return (
    <div className={classes.body}>
      {error ? <ErrorBox error={error} isFinal={step.status === 'failed' && !isPast} /> : null}
      <StepActions step={step} detail={detail} />
      {detail.why ? (
        <div className={classes.why}>
          <IconInfoCircle size={15} aria-hidden="true" />
          <span>{detail.why}</span>
        </div>
      ) : null}
      {detail.step.child ? <ChildRun child={detail.step.child} /> : null}
      {step.map ? <MapItems step={step} /> : null}
      <StepPanes step={step} detail={detail} />
      <StepFacts
        step={step}
        attempt={chosen ?? detail.attempts.find((one) => one.number === step.attempt)}
        waits={detail.waits}
      />
    </div>
  );
}
