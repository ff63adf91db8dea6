import { Button } from '@mantine/core';
import { IconBell, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';

import { keys } from '../../api/query-keys';
import { useMay, useWorkspace } from '../../api/workspace';
import { listWorkflows } from '../../api/workspace-calls';
import { Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { paths } from '../../lib/paths';
import { AlertCard } from './alert-card';
import { AlertDialog } from './alert-dialog';
import classes from './alerts.module.css';
import type { Alert } from './api';
import { DeliveriesDialog } from './deliveries-dialog';
import { useAlerts } from './use-alerts';

type Open = { what: 'new' } | { what: 'edit' | 'deliveries'; alert: Alert } | null;

/** /w/:ws/alerts, and ?workflow=id for those that tell of one. */
export function AlertsPage() {
  const ws = useWorkspace();
  const may = useMay('edit');
  const [params] = useSearchParams();
  const workflow = params.get('workflow');
  const alerts = useAlerts(workflow);
  const workflows = useQuery({ queryKey: keys.workflows(ws), queryFn: ({ signal }) => listWorkflows(ws, { signal }) });
  const [open, setOpen] = useState<Open>(null);
  const name = workflows.data?.items.find((one) => one.id === workflow)?.name;
  const items = alerts.data?.items ?? [];
  const add = may ? (
    <Button leftSection={<IconPlus size={15} />} onClick={() => setOpen({ what: 'new' })}>
      New alert
    </Button>
  ) : null;
  const hint = workflow ? (
    <>
      Those that tell of {name ?? 'this workflow'}. <Link to={paths.alerts(ws)}>Show all</Link>
    </>
  ) : (
    'Who is told of what, once for each thing, and many things together.'
  );
  return (
    <Page title="Alerts" hint={hint} actions={add}>
      {alerts.isPending ? <LoadingRows label="Loading the alerts" /> : null}
      {alerts.isError ? <ErrorState error={alerts.error} what="the alerts" onRetry={alerts.refetch} /> : null}
      {alerts.isSuccess && items.length === 0 ? (
        <EmptyState icon={<IconBell size={22} />} title="Nobody is told of anything yet" action={add}>
          An alert sends a mail or a request when a run fails, a deadline passes, a start does not happen, a lane has no
          worker, or a question waits.
        </EmptyState>
      ) : null}
      <ul className={classes.cards} aria-label="Alerts">
        {items.map((alert) => (
          <AlertCard
            key={alert.id}
            alert={alert}
            may={may}
            onEdit={() => setOpen({ what: 'edit', alert })}
            onDeliveries={() => setOpen({ what: 'deliveries', alert })}
          />
        ))}
      </ul>
      {open?.what === 'new' || open?.what === 'edit' ? (
        <AlertDialog
          before={open.what === 'edit' ? open.alert : null}
          workflow={workflow}
          workflows={workflows.data?.items ?? []}
          hasOwnMail={alerts.data?.has_own_mail ?? false}
          onClose={() => setOpen(null)}
        />
      ) : null}
      {open?.what === 'deliveries' ? <DeliveriesDialog alert={open.alert} onClose={() => setOpen(null)} /> : null}
    </Page>
  );
}
