import { Button, Modal } from '@mantine/core';

import { formatExact } from '../../../lib/format';
import { useCanvas, useHands } from '../hands';
import { differenceOf } from '../model/difference';
import classes from './overlays.module.css';

/** Two people changed the draft. Nothing is overwritten unseen: the person decides whose stays. */
export function ConflictDialog() {
  const { store } = useHands();
  const save = useCanvas((state) => state.save);
  const mine = useCanvas((state) => state.document);
  if (save.kind !== 'conflict') return null;
  const { theirs } = save;
  const takeTheirs = () => {
    // The choice first: the document that comes in then is what the server has already.
    store.getState().apply('Take the other version', () => theirs.graph, { select: [] });
    store.getState().saving({ type: 'chose', keep: 'theirs' });
  };
  const keepMine = () => store.getState().saving({ type: 'chose', keep: 'mine' });
  return (
    <Modal opened onClose={() => undefined} withCloseButton={false} title="Somebody else changed this draft" size={560}>
      <div className={classes.stack}>
        <p className={classes.text}>
          {theirs.updated_by ?? 'Somebody'} saved it at {formatExact(theirs.updated_at)}, while you were editing. Choose
          which one stays. If you take theirs, Undo brings yours back.
        </p>
        <div className={classes.sides}>
          <section className={classes.side}>
            <h3>Mine</h3>
            {mine.nodes.length} steps, {mine.edges.length} edges
          </section>
          <section className={classes.side}>
            <h3>Theirs, compared to mine</h3>
            {differenceOf(mine, theirs.graph)}
          </section>
        </div>
        <div className={classes.buttons}>
          <Button variant="default" onClick={takeTheirs}>
            Take theirs
          </Button>
          <Button onClick={keepMine}>Keep mine</Button>
        </div>
      </div>
    </Modal>
  );
}
