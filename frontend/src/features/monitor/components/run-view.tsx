import { useEffect } from 'react';
import { useNavigate } from 'react-router';

import { useMay } from '../../../api/workspace';
import { useShortcuts } from '../../../components/ui/shortcuts';
import { paths } from '../../../lib/paths';
import { useBreakpoints } from '../breakpoints';
import { useCancelRun, usePause } from '../commands';
import { useHands } from '../hands';
import { useNeighbours } from '../neighbours';
import { usePast } from '../past';
import { usePlan } from '../plan';
import { usePulseFeed } from '../pulse';
import { useSelection } from '../selection';
import { useIsPast, useMonitor, useRunState } from '../store';
import { isCancellable, nodeAt } from '../summary';
import { EventsView } from './events-view';
import { FreshnessBar } from './freshness-bar';
import { PlanBar } from './plan-bar';
import { RunCanvas } from './run-canvas';
import { RunHead } from './run-head';
import classes from './run-view.module.css';
import { PastBanner, Scrubber } from './scrubber';
import { StepPanel } from './step-panel';
import { TimelineView } from './timeline-view';

/** The page of one run: what happened, the graph or its timeline, and the selected step. */
export function RunView() {
  const past = usePast();
  const selection = useSelection();
  const plan = usePlan();
  usePulseFeed();
  useRunShortcuts();
  useStepShortcuts();
  const view = plan.operation ? 'canvas' : selection.view;
  const { close } = plan;
  const isPast = past.at !== null;
  useEffect(() => {
    if (isPast) close(); // what is planned is of now
  }, [isPast, close]);
  return (
    <div className={classes.page}>
      <FreshnessBar />
      <PastBanner past={past} />
      <RunHead />
      <div className={classes.split} data-panel={selection.step !== null || undefined}>
        <div className={classes.main}>
          {view === 'canvas' ? <RunCanvas /> : null}
          {view === 'timeline' ? <TimelineView /> : null}
          {view === 'events' ? <EventsView /> : null}
        </div>
        {selection.step === null ? null : <StepPanel key={selection.step} path={selection.step} />}
      </div>
      {plan.operation || view === 'events' ? null : <Scrubber past={past} />}
      {plan.operation ? <PlanBar key={plan.operation.kind} operation={plan.operation} /> : null}
    </div>
  );
}

/** What can be done to the selected step, by key. Nothing happens before its plan is confirmed. */
function useStepShortcuts(): void {
  const { step } = useSelection();
  const hands = useHands(useRunState((state) => (step === null ? undefined : state.steps.get(step))));
  const breakpoints = useBreakpoints();
  const node = useRunState(({ graph }) => nodeAt(graph, step));
  const stop = {
    key: 'b',
    label: 'Pause before it, or remove its breakpoint',
    act: () => node && breakpoints.toggle(node),
  };
  useShortcuts('Step', step === null ? [] : [...hands, stop]);
}

function useRunShortcuts(): void {
  const { ref } = useMonitor();
  const { view, setView, step, selectStep } = useSelection();
  const plan = usePlan();
  const navigate = useNavigate();
  const neighbours = useNeighbours();
  const isPast = useIsPast();
  const mayRun = useMay('run') && !isPast;
  const cancellable = useRunState((state) => isCancellable(state.run));
  const cancel = useCancelRun();
  const pause = usePause();
  const go = (id: string | undefined) => id && navigate(paths.run(ref.ws, id));
  useShortcuts('Run', [
    { key: 'j', label: 'Next run', act: () => go(neighbours.next) },
    { key: 'k', label: 'Previous run', act: () => go(neighbours.previous) },
    {
      key: 'r',
      label: 'Resume: show what it keeps and runs',
      act: () => plan.mayOpen && !isPast && plan.open({ kind: 'resume' }),
    },
    { key: 'Enter', label: 'Do what the plan says, while it is shown', act: plan.confirm },
    { key: 'c', label: 'Cancel the run', act: () => mayRun && cancellable && cancel.ask() },
    { key: 'p', label: 'Pause the run, or continue it', act: () => !isPast && pause.toggle() },
    { key: 'g', label: 'Canvas or timeline', act: () => setView(view === 'canvas' ? 'timeline' : 'canvas') },
    {
      key: 'Escape',
      label: 'Close the plan, the form or the step',
      act: () => (plan.operation ? plan.close() : plan.draft ? plan.setDraft(null) : step !== null && selectStep(null)),
    },
  ]);
}
