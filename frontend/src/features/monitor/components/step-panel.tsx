import { ActionIcon, Tooltip } from '@mantine/core';
import { IconHandStop, IconX } from '@tabler/icons-react';

import type { StepDetail } from '../../../api/types';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { StatusBadge } from '../../../diagram';
import { asOf } from '../as-of';
import { useBreakpoints } from '../breakpoints';
import { lastKnown, useFreshness } from '../freshness';
import { shownStatus, statusSentence } from '../node-status';
import { heardWords, pulseWords } from '../pulse';
import type { LiveStep } from '../reducer';
import { useSelection } from '../selection';
import { useMonitorState, useRunState } from '../store';
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
import { WhyPanel } from './why-panel';

/** Everything of one step run. */
export function StepPanel({ path }: { path: string }) {
  const live = useRunState((state) => state.steps.get(path));
  const graph = useRunState((state) => state.graph);
  const { selectStep } = useSelection();
  const detail = useStepDetail(path);
  const pastAt = useMonitorState((state) => state.pastAt);
  const step = live ?? (pastAt === null ? detail.data?.step : undefined);
  const known = detail.data && step && pastAt !== null ? asOf(detail.data, step, pastAt) : detail.data;
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
        {step ? <StatusLine step={step} attempts={known?.attempts ?? []} /> : null}
      </header>
      {detail.error && !detail.data ? (
        <ErrorState compact error={detail.error} what="this step" onRetry={detail.refetch} />
      ) : null}
      {detail.isPending ? <LoadingRows label="Loading the step" rows={5} /> : null}
      {step && known ? <Body step={step} detail={known} /> : null}
      {pastAt !== null && !step ? <p className={classes.empty}>At that time it was not there yet.</p> : null}
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
      <p className={classes.sentence}>
        {statusSentence(step)}
        <PulseWords step={step} />
      </p>
    </>
  );
}

/** Live: when the worker that holds it was heard, and how far it got. */
function PulseWords({ step }: { step: LiveStep }) {
  const pulse = useMonitorState((state) => (state.past ? undefined : state.pulses.get(step.path)));
  const isLost = useFreshness().how === 'lost';
  const words = pulseWords(step, pulse);
  if (!pulse || words === null || (isLost && step.status === 'running')) return null;
  const heard = pulse.heard_s !== null && step.status === 'running' ? heardWords(pulse.heard_s) : null;
  const said = pulse.progress?.text ? ` (${pulse.progress.text})` : '';
  return (
    <span data-testid="pulse">
      {' '}
      {heard === words
        ? `Its worker was ${heard}.`
        : `${capital(words)}${said}${heard ? `; its worker was ${heard}` : ''}.`}
    </span>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Body({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const { attempt } = useSelection();
  const chosen = detail.attempts.find((one) => one.number === attempt);
  const isPast = chosen !== undefined && chosen.number !== step.attempt;
  const error = isPast ? chosen.error : (step.error ?? chosen?.error ?? null);
  return (
    <div className={classes.body}>
      <WhyPanel step={step} detail={detail} />
      {error ? <ErrorBox error={error} isFinal={step.status === 'failed' && !isPast} /> : null}
      <StepActions step={step} detail={detail} />
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
