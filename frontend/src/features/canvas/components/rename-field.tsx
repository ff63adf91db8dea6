import { useState } from 'react';

import { focusStep, renameStep } from '../actions';
import { useCanvas, useHands } from '../hands';
import { groupOf } from '../model/groups';
import { nodeOf } from '../model/walk';
import classes from './overlays.module.css';

/** F2: the name is typed where it stands. */
export function RenameField({ id }: { id: string }) {
  const hands = useHands();
  const node = useCanvas((state) => nodeOf(state.document, id));
  const group = useCanvas((state) => groupOf(state.document, id));
  const [name, setName] = useState(node?.name || node?.key || group?.name || '');
  const box = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
  if ((!node && !group) || !box) return null;
  const close = () => {
    hands.ui.getState().set({ renaming: null });
    focusStep(id);
  };
  return (
    <input
      className={classes.rename}
      style={{ left: box.left, top: box.top, width: Math.max(Math.min(box.width, 320), 200), height: 34 }}
      aria-label={group ? 'New name of the group' : 'New name of the step'}
      // biome-ignore lint/a11y/noAutofocus: it appears because somebody wants to type
      autoFocus
      value={name}
      maxLength={120}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={() => {
        renameStep(hands, id, name);
        hands.ui.getState().set({ renaming: null });
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setName(node?.name ?? group?.name ?? '');
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.stopPropagation();
        event.preventDefault();
        if (event.key === 'Enter') renameStep(hands, id, name);
        close();
      }}
    />
  );
}
