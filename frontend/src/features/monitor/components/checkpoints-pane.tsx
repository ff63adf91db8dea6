import type { Checkpoint } from '../../../api/types';
import { JsonView } from '../../../components/ui/json-view';
import { TimeAgo } from '../../../components/ui/time';
import classes from './step-panel.module.css';

/** What the body kept on its way: the next attempt reads it, so that it need not begin anew. */
export function CheckpointsPane({ checkpoints }: { checkpoints: readonly Checkpoint[] }) {
  if (checkpoints.length === 0) {
    return <p className={classes.empty}>The body has kept no partial result. What it keeps survives a crash.</p>;
  }
  return checkpoints.map((one) => (
    <section key={`${one.attempt}-${one.key}-${one.at}`} className={classes.checkpoint}>
      <div>
        <code>{one.key}</code> · {one.kind} · attempt {one.attempt} · <TimeAgo at={one.at} />
      </div>
      <JsonView value={one.value} label={one.key} />
    </section>
  ));
}
