import { IconAlertTriangle } from '@tabler/icons-react';

import type { BulkAsked, BulkPreview } from '../../api/bulk';
import { formatNames } from '../../lib/format';
import classes from './bulk.module.css';
import { planSentence } from './words';

/** The plans of the first runs; they are of the same kind as the others. */
export function PreviewList({ preview, asked }: { preview: BulkPreview; asked: BulkAsked }) {
  const more = preview.count - preview.skipped - preview.plans.length;
  return (
    <ul className={classes.plans} aria-label="What happens to the first of them">
      {preview.plans.map((plan) => (
        <li key={plan.run.id} className={classes.plan}>
          <span className={classes.planRun}>{plan.run.number}</span>
          <span>
            <span className={classes.planWorkflow}>{plan.run.workflow?.name}</span> {planSentence(plan, asked)}
            {plan.may_happen_twice.length > 0 ? (
              <span className={classes.twice}>
                <IconAlertTriangle size={13} aria-hidden="true" /> {formatNames(plan.may_happen_twice)} may happen twice
              </span>
            ) : null}
          </span>
        </li>
      ))}
      {more > 0 ? <li className={classes.soft}>and {more.toLocaleString('en')} more, each by its own plan</li> : null}
    </ul>
  );
}
