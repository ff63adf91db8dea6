import { Button } from '@mantine/core';
import { IconPlayerPlay, IconStack2 } from '@tabler/icons-react';
import { type RefObject, useMemo, useRef } from 'react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { Card, Page } from '../../components/ui/page';
import { useShortcuts } from '../../components/ui/shortcuts';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { formatCount, formatCounted } from '../../lib/format';
import { paths } from '../../lib/paths';
import { BulkBar } from './bulk-bar';
import { FilterBar } from './filter-bar';
import { serverFilters, useFilters } from './filters';
import classes from './runs.module.css';
import { RunsTable } from './runs-table';
import { useSelection } from './selection';
import { useRunCount, useRuns, usualDurations } from './use-runs';
import { ViewsMenu } from './views-menu';

/** /w/:ws/runs */
export function RunsPage() {
  const ws = useWorkspace();
  const { filters, set, clear, isFiltered } = useFilters();
  const { runs, items, newCount, showNew, lookedBackTo } = useRuns(ws, filters);
  const count = useRunCount(ws, filters);
  const usual = useMemo(() => usualDurations(items), [items]);
  const order = useMemo(() => items.map((run) => run.id), [items]);
  const selection = useSelection(order);
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table, selection.toggle);
  const isChoosing = selection.chosen.isAll || selection.chosen.ids.size > 0;
  return (
    <Page
      title="Runs"
      hint="Every execution of a workflow, newest first. A failed one goes on from where it failed."
      actions={
        <Button variant="default" component={Link} to={paths.bulks(ws)} leftSection={<IconStack2 size={15} />}>
          Bulk operations
        </Button>
      }
    >
      <FilterBar filters={filters} set={set} clear={clear}>
        <span className={classes.count} data-testid="run-count">
          {count.data ? formatCounted(count.data, 'run') : null}
        </span>
        <ViewsMenu filters={filters} isFiltered={isFiltered} />
      </FilterBar>
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
        {runs.isSuccess && items.length === 0 && !lookedBackTo ? (
          <Nothing ws={ws} isFiltered={isFiltered} onClear={clear} />
        ) : null}
        {items.length > 0 ? (
          <div ref={table}>
            <RunsTable
              ws={ws}
              runs={items}
              usual={usual}
              isChosen={selection.has}
              onToggle={selection.toggle}
              areAllChosen={selection.areAllListed}
              onToggleAll={selection.areAllListed ? selection.clear : selection.chooseListed}
            />
          </div>
        ) : null}
      </Card>
      <More runs={runs} lookedBackTo={lookedBackTo} />
      {isChoosing ? (
        <BulkBar
          chosen={selection.chosen}
          filter={serverFilters(filters, Date.now())}
          hasMore={runs.hasNextPage}
          areAllListed={selection.areAllListed}
          count={count.data}
          onAll={selection.chooseAll}
          onClear={selection.clear}
        />
      ) : null}
    </Page>
  );
}

interface MoreProps {
  runs: ReturnType<typeof useRuns>['runs'];
  lookedBackTo: string | null;
}

/** The next page; where enough runs were looked at without filling one, how far that was. */
function More({ runs, lookedBackTo }: MoreProps) {
  if (!runs.hasNextPage) return null;
  return (
    <div className={classes.more}>
      {lookedBackTo ? (
        <span className={classes.soft}>
          Looked through the runs that began since <TimeAgo at={lookedBackTo} />.
        </span>
      ) : null}
      <Button variant="default" loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
        {lookedBackTo ? 'Look further back' : 'Load more'}
      </Button>
    </div>
  );
}

function useRowKeys(table: RefObject<HTMLDivElement | null>, toggle: (id: string, isRange?: boolean) => void): void {
  useShortcuts('Runs', [
    { key: 'j', label: 'Next run', act: () => moveFocus(table.current, 1) },
    { key: 'k', label: 'Previous run', act: () => moveFocus(table.current, -1) },
    { key: 'x', label: 'Choose the run, or not', act: () => focused() && toggle(focused() ?? '') },
    { key: 'v', label: 'Choose up to this run', act: () => focused() && toggle(focused() ?? '', true) },
  ]);
}

const focused = (): string | undefined =>
  (document.activeElement?.closest('tr')?.querySelector('a[data-run]') as HTMLElement | null)?.dataset.run;

function moveFocus(table: HTMLElement | null, by: 1 | -1): void {
  const links = [...(table?.querySelectorAll<HTMLAnchorElement>('a[data-run]') ?? [])];
  const at = links.findIndex((link) => link.dataset.run === focused());
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
