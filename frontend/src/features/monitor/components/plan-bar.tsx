import { Button } from '@mantine/core';
import { IconAlertTriangle, IconPlayerSkipForward } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

import { sentenceOf } from '../../../api/errors';
import type { Operation } from '../../../api/recovery';
import type { GraphDocument } from '../../../diagram';
import { type Plan, usePlan } from '../plan';
import { afterwards, confirmLabel, type Effects, effectsOf, planSentence, planTitle } from '../plan-words';
import { useRunState } from '../store';
import { ForkOptions } from './fork-options';
import { PlanList } from './plan-list';
import classes from './run-view.module.css';
import { HAND_ICONS } from './step-hands';

function Legend() {
  return (
    <ul className={classes.legend} aria-label="What the marks on the graph mean">
      <li data-mark="kept">kept</li>
      <li data-mark="again">runs again</li>
      <li data-mark="effect">may take effect twice</li>
    </ul>
  );
}

interface Props {
  operation: Operation;
}

/** The plan itself, or why there is none. */
function mainSentence(operation: Operation, { preview, error }: Pick<Plan, 'preview' | 'error'>, graph: GraphDocument) {
  if (preview?.allowed) return planSentence(preview, graph, operation);
  if (preview) return 'Not possible now.';
  return error ? 'No plan could be made.' : 'Making the plan…';
}

function PlanText({ operation, effects }: Props & { effects: Effects | null }) {
  const graph = useRunState((state) => state.graph);
  const { preview, error, changed } = usePlan();
  const refusal = error ? sentenceOf(error) : preview?.allowed === false ? preview.refusal : null;
  return (
    <div className={classes.planText} aria-live="polite">
      {changed ? <span className={classes.changed}>{changed}</span> : null}
      <strong>{mainSentence(operation, { preview, error }, graph)}</strong>
      {effects ? (
        <span className={effects.isRisky ? classes.risk : classes.calm}>
          {effects.isRisky ? <IconAlertTriangle size={15} aria-hidden="true" /> : null} {effects.sentence}
        </span>
      ) : null}
      {effects ? <span className={classes.calm}>{afterwards(operation)}</span> : null}
      {refusal ? <span className={classes.risk}>{refusal}</span> : null}
      {operation.kind === 'fork' ? <ForkOptions operation={operation} /> : null}
    </div>
  );
}

/** Takes the keyboard while a plan is shown, so that Enter does it and Tab leads to its buttons; gives it back after. */
function useFocus() {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    bar.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return bar;
}

/** One bar below the graph while an operation is being looked at. Nothing has happened yet. */
export function PlanBar({ operation }: Props) {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  const { preview } = plan;
  const effects = preview?.allowed ? effectsOf(preview, graph) : null;
  const icon = operation.kind in HAND_ICONS ? HAND_ICONS[operation.kind as keyof typeof HAND_ICONS] : null;
  return (
    <section
      ref={useFocus()}
      tabIndex={-1}
      className={classes.plan}
      data-risky={effects?.isRisky || undefined}
      aria-label={planTitle(operation)}
    >
      {preview?.allowed && preview.nodes.length > 0 ? <PlanList nodes={preview.nodes} /> : null}
      <div className={classes.planBar}>
        <PlanText operation={operation} effects={effects} />
        <Legend />
        <div className={classes.planButtons}>
          <Button variant="default" onClick={plan.close}>
            Not now
          </Button>
          <Button
            color={effects?.isRisky ? 'orange.8' : undefined}
            leftSection={icon ?? <IconPlayerSkipForward size={15} />}
            disabled={!preview?.allowed}
            loading={plan.isBusy}
            onClick={plan.confirm}
          >
            {confirmLabel(operation, preview, graph)}
          </Button>
        </div>
      </div>
    </section>
  );
}
