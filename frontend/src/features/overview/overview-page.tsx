import { SegmentedControl } from '@mantine/core';
import { IconBell, IconChartBar } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearchParams } from 'react-router';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { readWorkflow } from '../../api/workspace-calls';
import { useCrumbs } from '../../components/ui/crumbs';
import { Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import { type Overview, overviewKey, readOverview } from './api';
import { DurationChart } from './duration-chart';
import { Figures } from './figures';
import { PERIODS, periodOf } from './numbers';
import classes from './overview.module.css';
import { FailedSteps, Lanes, Panel, Starts, Workflows } from './panels';
import { RunChart } from './run-chart';

/** /w/:ws/overview */
export function OverviewPage() {
  return <Body title="Overview" />;
}

/** /w/:ws/workflows/:id/overview */
export function WorkflowOverviewPage() {
  const ws = useWorkspace();
  const { id = '' } = useParams();
  const workflow = useQuery({
    queryKey: keys.workflow(ws, id),
    queryFn: ({ signal }) => readWorkflow(ws, id, { signal }),
  });
  const name = workflow.data?.name ?? 'Workflow';
  useCrumbs({ label: name, to: paths.workflow(ws, id) }, { label: 'Overview' });
  return <Body title={`Overview of ${name}`} workflow={id} />;
}

function Body({ title, workflow }: { title: string; workflow?: string }) {
  const ws = useWorkspace();
  const [params, setParams] = useSearchParams();
  const period = periodOf(params.get('period'));
  const overview = useQuery({
    queryKey: overviewKey(ws, period.name, workflow),
    queryFn: ({ signal }) => readOverview(ws, period.name, workflow, { signal }),
    refetchInterval: period.refresh_ms,
    placeholderData: (before) => before,
  });
  const shown = overview.data;
  const actions = (
    <>
      <SegmentedControl
        aria-label="Period"
        size="xs"
        data={PERIODS.map(({ name, label }) => ({ value: name, label }))}
        value={period.name}
        onChange={(name) => setParams(name === '24h' ? {} : { period: name }, { replace: true })}
      />
      <Link className={classes.alerts} to={paths.alerts(ws, workflow)}>
        <IconBell size={15} aria-hidden="true" /> Alerts
      </Link>
    </>
  );
  const hint = shown ? (
    <>
      Runs started in {periodOf(shown.period).words}, as they stand now. <TimeAgo at={shown.now} prefix="Counted " />
    </>
  ) : (
    'How runs have done of late.'
  );
  return (
    <Page title={title} hint={hint} actions={actions}>
      {overview.isPending ? <LoadingRows label="Loading the overview" /> : null}
      {overview.isError && !shown ? (
        <ErrorState error={overview.error} what="the overview" onRetry={overview.refetch} />
      ) : null}
      {overview.isError && shown ? (
        <p className={classes.stale} role="alert">
          These numbers are not new: Pawl could not be asked just now. It is tried again by itself.
        </p>
      ) : null}
      {shown ? <Shown shown={shown} workflow={workflow} /> : null}
    </Page>
  );
}

function Shown({ shown, workflow }: { shown: Overview; workflow: string | undefined }) {
  const isEmpty = shown.runs.total === 0;
  return (
    <div className={classes.grid}>
      <Figures shown={shown} workflow={workflow} />
      {isEmpty ? (
        <Panel title="Runs" wide>
          <EmptyState compact icon={<IconChartBar size={22} />} title="No run was started in this period">
            Choose a longer one above, or start a run: its numbers appear here within seconds.
          </EmptyState>
        </Panel>
      ) : (
        <>
          <Panel title="Runs">
            <RunChart shown={shown} workflow={workflow} />
          </Panel>
          <Panel title="Durations" hint={durationHint(shown)}>
            <DurationChart shown={shown} />
          </Panel>
        </>
      )}
      {workflow === undefined && shown.workflows.length > 0 ? <Workflows shown={shown} /> : null}
      <FailedSteps shown={shown} />
      <Lanes lanes={shown.lanes} />
      <Starts shown={shown} />
    </div>
  );
}

function durationHint({ durations, runs }: Overview): string {
  if (durations.is_exact) return 'Of runs that succeeded, waiting included.';
  return `Of ${durations.sampled.toLocaleString('en')} of ${runs.succeeded.toLocaleString('en')} runs: the newest of each column.`;
}
