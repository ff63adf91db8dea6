import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconHierarchy2, IconPlus, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';

import type { Workflow } from '../../api/types';
import { useMay } from '../../api/workspace';
import { Card, Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import classes from './library.module.css';
import { NameDialog } from './name-dialog';
import { useWorkflows } from './use-workflows';
import { WorkflowsTable } from './workflows-table';

/** /w/:ws/workflows. The search and the shelf are in the address. */
export function WorkflowsPage() {
  const [params, setParams] = useSearchParams();
  const q = params.get('q') ?? '';
  const archived = params.get('shelf') === 'archived';
  const [asked] = useDebouncedValue(q, 180);
  const workflows = useWorkflows({ q: asked, archived });
  const mayEdit = useMay('edit');
  const [edited, setEdited] = useState<Workflow | 'new' | null>(null);
  const items = workflows.data?.pages.flatMap((page) => page.items) ?? [];
  const set = (name: string, value: string) =>
    setParams(
      (now) => {
        if (value) now.set(name, value);
        else now.delete(name);
        return now;
      },
      { replace: true },
    );
  const create = mayEdit ? (
    <Button leftSection={<IconPlus size={15} />} onClick={() => setEdited('new')}>
      New workflow
    </Button>
  ) : null;
  return (
    <Page title="Workflows" hint="Drawn once, run step by step; what is finished never runs again." actions={create}>
      <div className={classes.bar}>
        <TextInput
          aria-label="Search workflows"
          placeholder="Search by name"
          leftSection={<IconSearch size={14} />}
          value={q}
          onChange={(event) => set('q', event.currentTarget.value)}
          w={280}
        />
        <SegmentedControl
          size="xs"
          aria-label="Which workflows"
          value={archived ? 'archived' : 'active'}
          onChange={(shelf) => set('shelf', shelf === 'archived' ? shelf : '')}
          data={[
            { value: 'active', label: 'Active' },
            { value: 'archived', label: 'Archived' },
          ]}
        />
      </div>
      <Card>
        {workflows.isPending ? <LoadingRows label="Loading the workflows" /> : null}
        {workflows.isError && items.length === 0 ? (
          <ErrorState error={workflows.error} what="the workflows" onRetry={workflows.refetch} />
        ) : null}
        {workflows.isSuccess && items.length === 0 ? (
          <Nothing query={asked} archived={archived} action={create} />
        ) : null}
        {items.length > 0 ? <WorkflowsTable items={items} onRename={setEdited} /> : null}
      </Card>
      {workflows.hasNextPage ? (
        <Button
          variant="subtle"
          color="gray"
          mt={8}
          loading={workflows.isFetchingNextPage}
          onClick={() => void workflows.fetchNextPage()}
        >
          Show more
        </Button>
      ) : null}
      {edited !== null ? (
        <NameDialog workflow={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      ) : null}
    </Page>
  );
}

function Nothing({ query, archived, action }: { query: string; archived: boolean; action: React.ReactNode }) {
  const icon = <IconHierarchy2 size={22} />;
  if (query)
    return (
      <EmptyState icon={icon} title={`No workflow is called '${query}'`}>
        Try a part of its name, or look among the archived ones.
      </EmptyState>
    );
  if (archived)
    return (
      <EmptyState icon={icon} title="Nothing is archived">
        An archived workflow cannot be edited or run; its runs stay.
      </EmptyState>
    );
  return (
    <EmptyState icon={icon} title="Draw your first workflow" action={action}>
      Put steps on a canvas and connect them. Each step that finishes is kept, so that a run that fails goes on from
      there.
    </EmptyState>
  );
}
