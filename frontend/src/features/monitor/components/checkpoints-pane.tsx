import type { Artifact, Checkpoint } from '../../../api/types';
import { JsonView } from '../../../components/ui/json-view';
import { TimeAgo } from '../../../components/ui/time';
import { Artifacts } from './artifacts';
import classes from './step-panel.module.css';

/** What the body kept on its way: the next attempt reads it, so that it need not begin anew. */
export function CheckpointsPane({
  checkpoints,
  artifacts,
}: {
  checkpoints: readonly Checkpoint[];
  artifacts: readonly Artifact[];
}) {
  if (checkpoints.length + artifacts.length === 0) {
    return <p className={classes.empty}>The body has kept no partial result. What it keeps survives a crash.</p>;
  }
  return (
    <>
      <Artifacts artifacts={artifacts} />
      {checkpoints.map((one) => (
        <section key={`${one.kind}-${one.attempt}-${one.key}`} className={classes.checkpoint}>
          <div>
            <code>{one.key}</code> · {one.kind} · attempt {one.attempt} · <TimeAgo at={one.at} />
          </div>
          <JsonView value={one.value} label={one.key} />
        </section>
      ))}
    </>
  );
}
