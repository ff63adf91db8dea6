import { Button } from '@mantine/core';
import { IconClockPlay, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'react-router';

import { keys } from '../../api/query-keys';
import { useMay, useWorkspace } from '../../api/workspace';
import { listWorkflows } from '../../api/workspace-calls';
import { useCrumbs } from '../../components/ui/crumbs';
import { Card, Page, Table } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { paths } from '../../lib/paths';
import type { Trigger } from './api';
import { FiringsDialog } from './firings-dialog';
import { TriggerDialog } from './trigger-dialog';
import { TriggerRow } from './trigger-row';
import { useTriggers } from './use-triggers';

const ACTIONS = (
  <span key="actions" className="visually-hidden">
    Actions
  </span>
);

/** /w/:ws/workflows/:id/triggers */
export function TriggersPage() {
  const ws = useWorkspace();
  const { id = '' } = useParams();
  const may = useMay('edit');
  const [isAdding, setAdding] = useState(false);
  const [read, setRead] = useState<Trigger | null>(null);
  const triggers = useTriggers(id);
  const workflows = useQuery({ queryKey: keys.workflows(ws), queryFn: ({ signal }) => listWorkflows(ws, { signal }) });
  const all = workflows.data?.items ?? [];
  const nameOf = (workflow: string) => all.find((one) => one.id === workflow)?.name ?? 'another workflow';
  useCrumbs({ label: nameOf(id), to: paths.workflow(ws, id) }, { label: 'Triggers' });
  const items = triggers.data?.items ?? [];
  const add = may ? (
    <Button leftSection={<IconPlus size={15} />} onClick={() => setAdding(true)}>
      New trigger
    </Button>
  ) : null;
  return (
    <Page title="Triggers" hint="What starts runs of this workflow without a person." actions={add}>
      <Card>
        {triggers.isPending ? <LoadingRows label="Loading the triggers" /> : null}
        {triggers.isError ? <ErrorState error={triggers.error} what="the triggers" onRetry={triggers.refetch} /> : null}
        {triggers.isSuccess && items.length === 0 ? (
          <EmptyState icon={<IconClockPlay size={22} />} title="Nothing starts it by itself" action={add}>
            A schedule, a webhook or another workflow's end can start its newest version.
          </EmptyState>
        ) : null}
        {items.length > 0 ? (
          <Table label="Triggers" head={['Name', 'Kind', 'When', 'Next', 'Last', 'Enabled', ACTIONS]}>
            {items.map((one) => (
              <TriggerRow key={one.id} trigger={one} may={may} nameOf={nameOf} onRead={() => setRead(one)} />
            ))}
          </Table>
        ) : null}
      </Card>
      {isAdding ? (
        <TriggerDialog workflow={id} others={all.filter((one) => one.id !== id)} onClose={() => setAdding(false)} />
      ) : null}
      {read ? <FiringsDialog trigger={read} onClose={() => setRead(null)} /> : null}
    </Page>
  );
}
