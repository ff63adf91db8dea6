import type { ReactNode } from 'react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { formatCount, formatDuration } from '../../lib/format';
import type { Overview } from './api';
import { formatShare, type Outcome, runsBehind } from './numbers';
import classes from './overview.module.css';

interface FigureProps {
  label: string;
  value: ReactNode;
  children: ReactNode;
  tone?: 'bad' | undefined;
}

function Figure({ label, value, children, tone }: FigureProps) {
  return (
    <div className={classes.figure} data-tone={tone}>
      <dt>{label}</dt>
      <dd className={classes.value}>{value}</dd>
      <dd className={classes.under}>{children}</dd>
    </div>
  );
}

const seconds = (value: number | null) => formatDuration(value === null ? null : value * 1000);

/** What the eye meets first: did it work, how long did it take, what did resume save. */
export function Figures({ shown, workflow }: { shown: Overview; workflow: string | undefined }) {
  const ws = useWorkspace();
  const { runs, durations, saved } = shown;
  const behind = (outcome: Outcome | undefined, words: string) => (
    <Link to={runsBehind(ws, { since: shown.since, outcome, workflow })}>{words}</Link>
  );
  return (
    <dl className={classes.figures}>
      <Figure label="Success rate" value={formatShare(runs.success_rate)} tone={toneOf(runs.success_rate)}>
        {behind('succeeded', `${runs.succeeded.toLocaleString('en')} succeeded`)},{' '}
        {behind('failed', `${runs.failed.toLocaleString('en')} failed`)}
      </Figure>
      <Figure label="Runs started" value={behind(undefined, runs.total.toLocaleString('en'))}>
        {behind('open', `${runs.open.toLocaleString('en')} still open`)}
        {runs.cancelled > 0 ? <>, {behind('cancelled', `${runs.cancelled.toLocaleString('en')} cancelled`)}</> : null}
      </Figure>
      <Figure label="Median duration" value={seconds(durations.p50_s)}>
        95 of 100 within {seconds(durations.p95_s)}
      </Figure>
      <Figure label="Saved by resume" value={saved.runs > 0 ? seconds(saved.seconds) : '–'}>
        {saved.runs > 0
          ? `${formatCount(saved.steps, 'step')} not run again in ${saved.is_exact ? '' : 'the newest '}${formatCount(saved.runs, 'run')}`
          : 'No run was resumed.'}
      </Figure>
    </dl>
  );
}

const toneOf = (share: number | null): 'bad' | undefined => (share !== null && share < 0.9 ? 'bad' : undefined);
