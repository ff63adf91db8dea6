import type { ReactNode } from 'react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { Table } from '../../components/ui/page';
import { Elapsed, TimeAgo } from '../../components/ui/time';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import type { Lane, Overview } from './api';
import { formatShare, runsBehind } from './numbers';
import classes from './overview.module.css';

interface PanelProps {
  title: string;
  hint?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

export function Panel({ title, hint, wide = false, children }: PanelProps) {
  return (
    <section className={classes.panel} data-wide={wide || undefined} aria-label={title}>
      <header className={classes.panelHead}>
        <h2>{title}</h2>
        {hint ? <span>{hint}</span> : null}
      </header>
      {children}
    </section>
  );
}

export function Workflows({ shown }: { shown: Overview }) {
  const ws = useWorkspace();
  const count = (value: number) => value.toLocaleString('en');
  return (
    <Panel title="Workflows" hint="Those with most failures first." wide>
      <Table label="Workflows" head={['Workflow', 'Success rate', 'Succeeded', 'Failed', 'Open']}>
        {shown.workflows.map(({ workflow, ...sums }) => {
          const behind = (outcome: 'succeeded' | 'failed' | 'open') =>
            sums[outcome] === 0 ? (
              <span className={classes.none}>0</span>
            ) : (
              <Link to={runsBehind(ws, { since: shown.since, outcome, workflow: workflow.id })}>
                {count(sums[outcome])}
              </Link>
            );
          return (
            <tr key={workflow.id}>
              <td>
                <Link to={`${paths.workflowOverview(ws, workflow.id)}?period=${shown.period}`}>{workflow.name}</Link>
                {sums.archived ? <span className={classes.none}> archived</span> : null}
              </td>
              <td>
                <Share share={sums.success_rate} />
              </td>
              <td className="num">{behind('succeeded')}</td>
              <td className="num">{behind('failed')}</td>
              <td className="num">{behind('open')}</td>
            </tr>
          );
        })}
      </Table>
    </Panel>
  );
}

function Share({ share }: { share: number | null }) {
  return (
    <span className={classes.share}>
      <span className="num">{formatShare(share)}</span>
      {share === null ? null : (
        <span className={classes.track} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </span>
  );
}

export function FailedSteps({ shown }: { shown: Overview }) {
  const ws = useWorkspace();
  const { items, is_exact } = shown.failed_steps;
  return (
    <Panel title="Failures by step" hint={is_exact ? 'As they stand now.' : 'Of the newest 5,000 failed steps.'}>
      {items.length === 0 ? (
        <p className={classes.calm}>No step of these runs stands failed.</p>
      ) : (
        <ul className={classes.rows}>
          {items.map((step) => (
            <li key={`${step.workflow.id} ${step.key}`}>
              <span className={classes.main}>
                <code>{step.key}</code>
                <span className={classes.soft}>{step.workflow.name}</span>
              </span>
              <span className={classes.soft}>
                last <TimeAgo at={step.last_at} />
              </span>
              <Link
                className="num"
                to={runsBehind(ws, {
                  since: shown.since,
                  outcome: 'failed',
                  workflow: step.workflow.id,
                  failedStep: step.key,
                })}
              >
                {formatCount(step.runs, 'run')}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

export function Lanes({ lanes }: { lanes: readonly Lane[] }) {
  return (
    <Panel title="Lanes and workers" hint="Just now, of this workspace.">
      {lanes.length === 0 ? <p className={classes.calm}>Nothing waits for a worker, and none is there.</p> : null}
      <ul className={classes.rows}>
        {lanes.map((lane) => (
          <li key={lane.lane} data-bad={isStranded(lane) || undefined}>
            <span className={classes.main}>
              <code>{lane.lane}</code>
              <span className={classes.soft}>
                {lane.workers === 0 ? 'no worker' : formatCount(lane.workers, 'worker')}, {lane.running} running
              </span>
            </span>
            <span className={classes.soft}>
              {lane.waiting === 0 ? (
                'nothing waits'
              ) : (
                <>
                  {lane.waiting >= 10_000 ? '10,000 or more' : lane.waiting.toLocaleString('en')} ready, the oldest for{' '}
                  <Elapsed from={lane.oldest_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {lanes.some(isStranded) ? (
        <p className={classes.warning} role="status">
          A lane has ready steps and no worker: start one that serves it (PAWL_WORKER_QUEUES).
        </p>
      ) : null}
    </Panel>
  );
}

const isStranded = (lane: Lane): boolean => lane.workers === 0 && lane.waiting > 0;

export function Starts({ shown }: { shown: Overview }) {
  const ws = useWorkspace();
  const { next, amiss } = shown;
  return (
    <>
      <Panel title="Next starts">
        {next.length === 0 ? <p className={classes.calm}>No schedule is switched on.</p> : null}
        <ul className={classes.rows}>
          {next.map(({ trigger, at }) => (
            <li key={trigger.id}>
              <span className={classes.main}>
                <Link to={paths.triggers(ws, trigger.workflow.id)}>{trigger.name}</Link>
                <span className={classes.soft}>{trigger.workflow.name}</span>
              </span>
              <span className={classes.soft}>
                <TimeAgo at={at} />
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title="Missed starts" hint={amiss.count > 0 ? `${amiss.count.toLocaleString('en')} in the period` : null}>
        {amiss.items.length === 0 ? <p className={classes.calm}>Everything that was due was started.</p> : null}
        <ul className={classes.rows}>
          {amiss.items.map(({ trigger, due_at, status, reason, detail }) => (
            <li key={`${trigger.id} ${due_at}`}>
              <span className={classes.main}>
                <Link to={paths.triggers(ws, trigger.workflow.id)}>{trigger.name}</Link>
                <span className={classes.soft} title={detail ?? undefined}>
                  {status === 'missed' ? 'nobody was there at its time' : `could not be started: ${detail ?? reason}`}
                </span>
              </span>
              <span className={classes.soft}>
                due <TimeAgo at={due_at} />
              </span>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}
