import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconWand } from '@tabler/icons-react';

import { say } from '../actions';
import type { Problem } from '../api';
import { useCanvas, useHands } from '../hands';
import { applyFix } from '../model/fix';

/** Mends a problem by one click: one edit, which Undo takes back. Nothing where there is no fix, or no right to edit. */
export function FixButton({ problem }: { problem: Problem }) {
  const hands = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  const { fix } = problem;
  if (!fix || !canEdit) return null;
  const mend = () => {
    const { document: graph, problems, apply, setProblems } = hands.store.getState();
    const mended = applyFix(graph, fix, hands.kinds);
    if (!mended) {
      notifications.show({
        title: 'Nothing was changed',
        message: 'The draft is not what it was when this was found. It is checked again at the next save.',
      });
      return;
    }
    apply(fix.title, () => mended);
    setProblems(problems.filter((one) => one !== problem)); // the next save tells what is left
    say(hands, `${fix.title}: done`);
  };
  return (
    <Button size="compact-xs" variant="light" leftSection={<IconWand size={12} />} onClick={mend}>
      {fix.title}
    </Button>
  );
}
