import type { Attempt, StepWait } from '../../../api/types';
import { CopyButton } from '../../../components/ui/copy-button';
import { TimeAgo } from '../../../components/ui/time';
import { formatDuration, formatExact } from '../../../lib/format';
import type { LiveStep } from '../reducer';
import classes from './step-panel.module.css';

const DELIVERY: { [delivery: string]: string } = {
  at_least_once: 'may run again after a crash, with the same key',
  pure: 'no outside effect',
  keyed: 'keyed: the outside can tell a repeat',
  at_most_once: 'at most once: never restarted by itself',
};

interface FactsProps {
  step: LiveStep;
  attempt: Attempt | undefined;
  waits: readonly StepWait[];
}

function between(from: string | null, to: string | null): string | null {
  return from && to ? formatDuration(Date.parse(to) - Date.parse(from)) : null;
}

export function StepFacts({ step, attempt, waits }: FactsProps) {
  const queued = attempt ? between(attempt.ready_at, attempt.started_at) : between(step.ready_at, step.started_at);
  const began = attempt?.started_at ?? step.started_at;
  const fence = attempt?.fence ?? step.fence;
  return (
    <dl className={classes.facts}>
      {step.idempotency_key ? (
        <>
          <dt title="All attempts of this step on the same input carry it">Idempotency key</dt>
          <dd>
            <code title={step.idempotency_key}>{step.idempotency_key}</code>
            <CopyButton text={step.idempotency_key} label="Copy the idempotency key" />
          </dd>
        </>
      ) : null}
      {fence ? (
        <>
          <dt title="Only the present attempt holds it; a write with an older one is refused">Fence</dt>
          <dd className="num">{fence}</dd>
        </>
      ) : null}
      {attempt?.worker ? <Fact name="Worker" value={attempt.worker} mono /> : null}
      {began ? <Fact name="Attempt began" value={formatExact(began)} /> : null}
      {queued ? <Fact name="In the queue" value={queued} /> : null}
      {step.crash_count > 0 ? <Fact name="Crashes" value={String(step.crash_count)} /> : null}
      {step.port && step.port !== 'out' ? <Fact name="Left by" value={step.port} mono /> : null}
      <Fact name="Effect outside" value={DELIVERY[step.delivery] ?? step.delivery} />
      {waits
        .filter((wait) => wait.kind !== 'children')
        .map((wait) => (
          <WaitFact key={wait.id} wait={wait} />
        ))}
    </dl>
  );
}

function Fact({ name, value, mono = false }: { name: string; value: string; mono?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{mono ? <code title={value}>{value}</code> : value}</dd>
    </>
  );
}

function WaitFact({ wait }: { wait: StepWait }) {
  return (
    <>
      <dt>{wait.kind === 'timer' ? 'Timer' : 'Asked a person'}</dt>
      <dd>
        <span>
          <TimeAgo at={wait.opened_at} />
          {wait.answered_by ? `, answered by ${wait.answered_by}` : ''}
        </span>
      </dd>
    </>
  );
}
