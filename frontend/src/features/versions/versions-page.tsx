import { Button } from '@mantine/core';
import { IconArrowBackUp, IconVersions } from '@tabler/icons-react';
import { useMemo } from 'react';
import { Link, useParams } from 'react-router';

import { useMay, useWorkspace } from '../../api/workspace';
import { useCrumbs } from '../../components/ui/crumbs';
import { Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { paths } from '../../lib/paths';
import { Compare } from './compare';
import { type Side, useShown } from './selection';
import { useDraft, useKinds, useVersions, useWorkflow } from './use-versions';
import { VersionList } from './version-list';
import classes from './versions.module.css';

/** /w/:ws/workflows/:id/versions */
export function VersionsPage() {
  const ws = useWorkspace();
  const { id = '' } = useParams();
  const workflow = useWorkflow(id);
  const kinds = useKinds();
  const versions = useVersions(id);
  const name = workflow.data?.name ?? 'Workflow';
  useCrumbs({ label: name, to: paths.workflow(ws, id) }, { label: 'Versions' });
  const byName = useMemo(() => new Map(kinds.data?.items.map((kind) => [kind.kind, kind])), [kinds.data]);
  for (const query of [workflow, kinds, versions]) {
    if (query.isError) return <ErrorState error={query.error} what="the versions" onRetry={query.refetch} />;
  }
  if (!workflow.data || !kinds.data || !versions.data) return <LoadingRows label="Loading the versions" />;
  if (versions.data.pages[0]?.items.length === 0) {
    return (
      <Page title="Versions" hint={`What was published of ${name}.`}>
        <EmptyState
          icon={<IconVersions size={22} />}
          title="Nothing was published yet"
          action={
            <Button component={Link} to={paths.workflow(ws, id)}>
              Open the draft
            </Button>
          }
        >
          Each time somebody publishes the draft, a version is kept here for good.
        </EmptyState>
      </Page>
    );
  }
  return <Shown id={id} name={name} live={workflow.data.live_version} kinds={byName} versions={versions} />;
}

interface ShownProps {
  id: string;
  name: string;
  live: number | null;
  kinds: React.ComponentProps<typeof Compare>['kinds'];
  versions: ReturnType<typeof useVersions>;
}

function Shown({ id, name, live, kinds, versions }: ShownProps) {
  const draft = useDraft(id);
  const { show, against, node, set } = useShown(live);
  const rows = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const sides: Side[] = ['draft', ...rows.map((row) => row.number)];
  return (
    <Page title="Versions" hint={`What was published of ${name}, by whom, and what differs.`}>
      <div className={classes.layout}>
        <VersionList
          draft={draft.data}
          versions={rows}
          live={live}
          shown={show}
          onShow={(side) => set({ show: String(side), with: null })}
          onMore={versions.hasNextPage ? () => void versions.fetchNextPage() : null}
        />
        <Compare
          workflow={id}
          kinds={kinds}
          show={show}
          against={against}
          node={node}
          sides={sides}
          onAgainst={(side) => set({ with: String(side) })}
          onNode={(next) => set({ node: next }, { replace: true })}
          restore={<Restore id={id} show={show} />}
        />
      </div>
    </Page>
  );
}

/** The editor takes the version as one edit: Undo brings the draft back, and a save of somebody else is never lost. */
function Restore({ id, show }: { id: string; show: Side }) {
  const ws = useWorkspace();
  const may = useMay('edit');
  if (!may) return null;
  return show === 'draft' ? (
    <Button component={Link} to={paths.workflow(ws, id)} size="xs" variant="default">
      Open the draft
    </Button>
  ) : (
    <Button
      component={Link}
      to={`${paths.workflow(ws, id)}?restore=${show}`}
      size="xs"
      variant="default"
      leftSection={<IconArrowBackUp size={14} />}
    >
      Restore into the draft
    </Button>
  );
}
