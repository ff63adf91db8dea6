import { Button } from '@mantine/core';
import { IconAlertTriangle, IconPlayerSkipForward } from '@tabler/icons-react';

import { sentenceOf } from '../../../api/errors';
import { type Plan, usePlan } from '../plan';
import { useRunState } from '../store';
import { type Effects, effectsOf, firstAgain, nameOf, planSentence } from '../summary';
import classes from './run-view.module.css';

function Legend() {
  return (
    <ul className={classes.legend} aria-label="What the marks on the graph mean">
      <li data-mark="kept">kept</li>
      <li data-mark="again">runs again</li>
      <li data-mark="effect">may take effect twice</li>
    </ul>
  );
}

function PlanText({ plan, effects }: { plan: Plan; effects: Effects | null }) {
  const graph = useRunState((state) => state.graph);
  const { preview, error } = plan;
  const missing = error ? 'No plan could be made.' : 'Making the plan…';
  const refusal = error ? sentenceOf(error) : preview?.allowed === false ? preview.refusal : null;
  return (
    <div className={classes.planText} aria-live="polite">
      <strong>{preview ? planSentence(preview, graph) : missing}</strong>
      {effects ? (
        <span className={effects.isRisky ? classes.risk : classes.calm}>
          {effects.isRisky ? <IconAlertTriangle size={15} aria-hidden="true" /> : null} {effects.sentence}
        </span>
      ) : null}
      {refusal ? <span className={classes.risk}>{refusal}</span> : null}
    </div>
  );
}

/** One bar below the graph while a resume is being looked at. Nothing has happened yet. */
export function PlanBar() {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  const { preview } = plan;
  const effects = preview?.allowed ? effectsOf(preview, graph) : null;
  const first = preview ? firstAgain(preview, graph) : undefined;
  return (
    <section className={classes.planBar} data-risky={effects?.isRisky || undefined} aria-label="Plan of the resume">
      <PlanText plan={plan} effects={effects} />
      <Legend />
      <Button variant="default" onClick={plan.close}>
        Not now
      </Button>
      <Button
        color={effects?.isRisky ? 'orange.8' : undefined}
        leftSection={<IconPlayerSkipForward size={15} />}
        disabled={!preview?.allowed}
        loading={plan.isBusy}
        onClick={plan.confirm}
      >
        {first ? `Resume from ${nameOf(graph, first)}` : 'Resume'}
      </Button>
    </section>
  );
}
