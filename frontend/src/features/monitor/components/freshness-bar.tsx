import { IconPlugConnectedX, IconRefreshAlert } from '@tabler/icons-react';

import { formatClock } from '../../../lib/format';
import { type Freshness, useFreshness } from '../freshness';
import { useRunState } from '../store';
import classes from './run-view.module.css';

/** Says so where the page does not learn of things as they happen. An ended run is true however old the page is. */
export function FreshnessBar() {
  const freshness = useFreshness();
  const isOver = useRunState((state) => state.run.finished_at !== null);
  const seq = useRunState((state) => state.seq);
  const sentence = freshness.how === 'live' ? null : sayFreshness(freshness, { isOver, seq });
  return (
    <div role="status" aria-label="Connection of this page">
      {sentence ? (
        <div className={classes.freshness} data-how={freshness.how}>
          {freshness.how === 'lost' ? <IconPlugConnectedX size={16} /> : <IconRefreshAlert size={16} />}
          <span>{sentence}</span>
        </div>
      ) : null}
    </div>
  );
}

export function sayFreshness(freshness: Freshness, { isOver, seq }: { isOver: boolean; seq: number }): string {
  if (freshness.how !== 'lost')
    return `The live connection is away. This page asks every two seconds, from event ${seq} on; nothing is missed.`;
  const at = formatClock(new Date(freshness.heardAt).toISOString());
  return isOver
    ? `Pawl does not answer since ${at}. The run had ended by then; whether somebody resumed it is not known here.`
    : `Pawl does not answer since ${at}. You see the run as it was then: it may have gone on. This page keeps asking.`;
}
