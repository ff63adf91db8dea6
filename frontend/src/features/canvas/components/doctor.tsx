import { Button } from '@mantine/core';
import { IconAlertCircle, IconAlertTriangle, IconChevronRight, IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';

import { keys } from '../../../api/query-keys';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { formatTick } from '../../../lib/format';
import { showStep } from '../actions';
import { type Doctor, type DoctorCheck, type DoctorFinding, readDoctor } from '../api';
import { useCanvas, useHands } from '../hands';
import { nodeOf } from '../model/walk';
import classes from './doctor.module.css';

const LOOKS = {
  ok: { Icon: IconCircleCheck, word: 'well' },
  warning: { Icon: IconAlertTriangle, word: 'warning' },
  error: { Icon: IconAlertCircle, word: 'error' },
} as const;

/** Saves what is unsaved, then looks at exactly that. */
export function useDoctor(workflowId: string) {
  const { ws, autosave } = useHands();
  return useQuery({
    queryKey: keys.doctor(ws, workflowId),
    queryFn: async ({ signal }) => {
      await autosave.flush();
      return readDoctor(ws, workflowId, { signal });
    },
    gcTime: 0,
    staleTime: 0,
  });
}

/** What somebody should know before this draft goes live: what is well in one line each, the rest in full. */
export function DoctorReport({ query, onGo }: { query: ReturnType<typeof useDoctor>; onGo: () => void }) {
  if (query.isPending) return <LoadingRows rows={6} label="Looking at the draft" />;
  if (query.isError)
    return <ErrorState compact error={query.error} what="what the doctor says" onRetry={query.refetch} />;
  return (
    <ul className={classes.report} aria-label="What the doctor says">
      {query.data.checks.map((check) => (
        <Check key={check.check} check={check} onGo={onGo} />
      ))}
    </ul>
  );
}

/** What keeps from publishing is in the graph; the rest can be mended afterwards, and is said on the button. */
export const hasDoubts = (doctor: Doctor | undefined): boolean =>
  doctor?.checks.some((check) => check.check !== 'problems' && check.state === 'error') ?? false;

function Check({ check, onGo }: { check: DoctorCheck; onGo: () => void }) {
  const { Icon, word } = LOOKS[check.state];
  return (
    <li className={classes.check} data-state={check.state}>
      <Icon size={16} className={classes.icon} role="img" aria-label={word} />
      <span className={classes.title}>{check.title}</span>
      <div className={classes.findings}>
        {check.findings.map((finding, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the doctor's answer never changes its order
          <Finding key={at} finding={finding} mixed={check.findings.length > 1} onGo={onGo} />
        ))}
      </div>
    </li>
  );
}

function Finding({ finding, mixed, onGo }: { finding: DoctorFinding; mixed: boolean; onGo: () => void }) {
  const hands = useHands();
  const isThere = useCanvas((state) => finding.node !== null && nodeOf(state.document, finding.node) !== undefined);
  const { node, state } = finding;
  const go = () => {
    onGo();
    if (node) showStep(hands, node);
  };
  return (
    <div className={classes.finding} data-state={state}>
      <span>
        {mixed && state !== 'ok' ? <strong className={classes.word}>{LOOKS[state].word}: </strong> : null}
        {finding.message}
      </span>
      {isThere && state !== 'ok' ? (
        <Button size="compact-xs" variant="subtle" rightSection={<IconChevronRight size={12} />} onClick={go}>
          Show the step
        </Button>
      ) : null}
      {finding.upcoming.length > 0 ? (
        <ol className={classes.ticks} aria-label="Next firings">
          {finding.upcoming.map((tick) => (
            <li key={tick.at} data-clock={tick.clock ?? undefined}>
              {formatTick(tick)}
            </li>
          ))}
        </ol>
      ) : null}
    </div>
  );
}
