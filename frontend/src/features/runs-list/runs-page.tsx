import { Button } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMemo, useRef } from 'react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { Card, Page } from '../../components/ui/page';
import { useShortcuts } from '../../components/ui/shortcuts';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import { FilterBar } from './filter-bar';
import { useFilters } from './filters';
import classes from './runs.module.css';
import { RunsTable } from './runs-table';
import { useRuns, usualDurations } from './use-runs';

/** /w/:ws/runs */
export function RunsPage() {
  const ws = useWorkspace();
  const { filters, set, clear, isFiltered } = useFilters();
  const { runs, items, newCount, showNew } = useRuns(ws, filters);
  const usual = useMemo(() => usualDurations(items), [items]);
  const table = useRef<HTMLDivElement>(null);
  useShortcuts('Runs', [
    { key: 'j', label: 'Next run', act: () => moveFocus(table.current, 1) },
    { key: 'k', label: 'Previous run', act: () => moveFocus(table.current, -1) },
  ]);
  return (
    <Page title="Runs" hint="Every execution of a workflow, newest first. A failed one goes on from where it failed.">
      <FilterBar filters={filters} set={set} clear={clear} />
      {newCount > 0 ? (
        <button type="button" className={classes.fresh} onClick={showNew}>
          Show {formatCount(newCount, 'new run')}
        </button>
      ) : null}
      <Card>
        {runs.isPending ? <LoadingRows rows={8} label="Loading the runs" /> : null}
        {runs.isError && items.length === 0 ? (
          <ErrorState error={runs.error} what="the runs" onRetry={runs.refetch} />
        ) : null}
        {runs.isSuccess && items.length === 0 ? <Nothing ws={ws} isFiltered={isFiltered} onClear={clear} /> : null}
        {items.length > 0 ? (
          <div ref={table}>
            <RunsTable ws={ws} runs={items} usual={usual} />
          </div>
        ) : null}
      </Card>
      {runs.hasNextPage ? (
        <div className={classes.more}>
          <Button variant="default" loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </Page>
  );
}

function moveFocus(table: HTMLElement | null, by: 1 | -1): void {
  const links = [...(table?.querySelectorAll<HTMLAnchorElement>('a[data-run]') ?? [])];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[at < 0 ? 0 : at + by]?.focus();
}

function Nothing({ ws, isFiltered, onClear }: { ws: string; isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState
        icon={<IconPlayerPlay size={22} />}
        title="No run fits these filters"
        action={
          <Button variant="default" onClick={onClear}>
            Clear the filters
          </Button>
        }
      />
    );
  }
  return (
    <EmptyState
      icon={<IconPlayerPlay size={22} />}
      title="Nothing has run yet"
      action={
        <Button component={Link} to={paths.workflows(ws)}>
          Go to the workflows
        </Button>
      }
    >
      Open a workflow, publish it and start it. Each run then stands here, live.
    </EmptyState>
  );
}
