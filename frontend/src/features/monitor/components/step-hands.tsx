import { Button, Tooltip } from '@mantine/core';
import {
  IconArrowFork,
  IconForms,
  IconPencil,
  IconPlayerSkipForward,
  IconPlayerTrackNext,
  IconRefresh,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';

import { type Hand, type HandKind, useCanResume, useHands } from '../hands';
import { usePlan } from '../plan';
import type { LiveStep } from '../reducer';
import { useRunState } from '../store';
import { nameOf } from '../summary';
import classes from './step-panel.module.css';

export const HAND_ICONS: Readonly<Record<HandKind, ReactNode>> = {
  retry_now: <IconRefresh size={15} />,
  edit_input: <IconPencil size={15} />,
  skip: <IconPlayerTrackNext size={15} />,
  supply_output: <IconForms size={15} />,
  fork: <IconArrowFork size={15} />,
};

/** What can be done to this step now. Each shows its plan first. */
export function StepHands({ step }: { step: LiveStep }) {
  const hands = useHands(step);
  const { operation } = usePlan();
  if (hands.length === 0) return null;
  const reasons = [...new Set(hands.map((hand) => hand.reason).filter((reason) => reason !== null))];
  return (
    // Hidden, not gone, while a plan is shown: the keyboard comes back to where it was.
    <div className={classes.hands} hidden={operation !== null}>
      <div className={classes.actions}>
        <ResumeHere step={step} />
        {hands.map((hand) => (
          <HandButton key={hand.kind} hand={hand} />
        ))}
      </div>
      {reasons.map((reason) => (
        <p key={reason} className={classes.reason}>
          {reason}
        </p>
      ))}
    </div>
  );
}

function HandButton({ hand }: { hand: Hand }) {
  return (
    <Tooltip label={`${hand.label} (${hand.key.toUpperCase()})`} disabled={hand.reason !== null}>
      <Button
        variant="default"
        size="xs"
        leftSection={HAND_ICONS[hand.kind]}
        disabled={hand.reason !== null}
        onClick={hand.act}
      >
        {hand.label}
      </Button>
    </Tooltip>
  );
}

function ResumeHere({ step }: { step: LiveStep }) {
  const plan = usePlan();
  const graph = useRunState((state) => state.graph);
  const canResume = useCanResume();
  if (!canResume(step)) return null;
  return (
    <Button
      size="xs"
      leftSection={<IconPlayerSkipForward size={15} />}
      onClick={() => plan.open({ kind: 'resume', paths: [step.path] })}
    >
      Resume from {nameOf(graph, step.path)}
    </Button>
  );
}
