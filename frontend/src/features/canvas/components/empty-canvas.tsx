import { Button, Kbd } from '@mantine/core';

import { insertStep, middleOfView } from '../actions';
import { useCanvas, useHands } from '../hands';
import classes from './editor.module.css';

/** Teaches the first move. */
export function EmptyCanvas() {
  const hands = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  const start = [...hands.kinds.values()].find((kind) => !kind.has_input);
  return (
    <div className={classes.empty}>
      <h2>{canEdit ? 'Every workflow begins with a start' : 'This workflow has no steps yet'}</h2>
      {canEdit ? (
        <>
          <p>It says what a run is given. Then drag steps from the library, or from one port to the next.</p>
          {start ? (
            <Button onClick={() => insertStep(hands, start.kind, { at: middleOfView() })}>Add the start step</Button>
          ) : null}
          <p className={classes.hint}>
            <Kbd>N</Kbd> adds a step where the pointer is, <Kbd>Tab</Kbd> the next one, <Kbd>?</Kbd> shows all keys.
          </p>
        </>
      ) : (
        <p>An editor of this workspace can draw it.</p>
      )}
    </div>
  );
}

/** A start alone: says how the next step comes. */
export function LoneStep() {
  return (
    <p className={classes.lone}>
      Press the port at its right, or <Kbd size="xs">Tab</Kbd> while it is selected, to add the next step.
    </p>
  );
}
