import { Button } from '@mantine/core';
import { IconAlertTriangle, IconPlayerSkipForward } from '@tabler/icons-react';

import { sentenceOf } from '../../../api/errors';
import { usePlan } from '../plan';
import { useRunState } from '../store';
import { effectsOf, firstAgain, nameOf, planSentence } from '../summary';
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

/** One bar below the graph while a resume is being looked at. Nothing has happened yet. */
export function PlanBar() {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  const { preview } = plan;
  const effects = preview?.allowed ? effectsOf(preview, graph) : null;
  const first = preview ? firstAgain(preview, graph) : undefined;
  return (
    <section className={classes.planBar} data-risky={effects?.isRisky || undefined} aria-label="Plan of the resume">
      <div className={classes.planText} aria-live="polite">
        <strong>
          {preview ? planSentence(preview, graph) : plan.error ? 'No plan could be made.' : 'Making the plan…'}
        </strong>
        {effects ? (
          <span className={effects.isRisky ? classes.risk : classes.calm}>
            {effects.isRisky ? <IconAlertTriangle size={15} aria-hidden="true" /> : null} {effects.sentence}
          </span>
        ) : null}
        {plan.error ? <span className={classes.risk}>{sentenceOf(plan.error)}</span> : null}
        {preview && !preview.allowed ? <span className={classes.risk}>{preview.refusal}</span> : null}
      </div>
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
        data-autofocus
      >
        {first ? `Resume from ${nameOf(graph, first)}` : 'Resume'}
      </Button>
    </section>
  );
}
