import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { usePollingInterval } from '../../../api/live';
import { keys } from '../../../api/query-keys';
import { readItems } from '../../../api/runs';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { STATUS_LOOKS, StatusShape } from '../../../diagram';
import { formatDuration } from '../../../lib/format';
import { groupItems, type Item, wordOf } from '../items';
import { shownStatus } from '../node-status';
import type { LiveStep } from '../reducer';
import { useSelection } from '../selection';
import { useMonitor, useRunState } from '../store';
import classes from './step-panel.module.css';

const FILTERS = [
  { value: '', label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'running', label: 'Running' },
];

function useItems(step: LiveStep, status: string) {
  const { ref } = useMonitor();
  const polling = usePollingInterval();
  const settled = step.map?.settled ?? 0;
  return useInfiniteQuery({
    queryKey: [...keys.items(ref.ws, ref.run, step.path, status), Math.floor(settled / 25), step.status],
    queryFn: ({ pageParam, signal }) => readItems(ref, step.path, { status, cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: (previous) => previous,
    refetchInterval: polling,
  });
}

/** The items of a container, failed ones first; a click selects the item's step that matters most. */
export function MapItems({ step }: { step: LiveStep }) {
  const [status, setStatus] = useState('');
  const pages = useItems(step, status);
  const live = useRunState((state) => state.steps);
  const items = useMemo(() => {
    const rows = pages.data?.pages.flatMap((page) => page.items) ?? [];
    const byPath = new Map(rows.map((row) => [row.path, row]));
    // The run's state holds those that failed or are under way, whichever page they are on, and newer than any page.
    for (const one of live.values()) {
      if (one.parent === step.path && (byPath.has(one.path) || status === '' || one.status === status))
        byPath.set(one.path, one);
    }
    return groupItems([...byPath.values()]);
  }, [pages.data, live, step.path, status]);
  const { many } = wordOf(step.kind);
  const title = many.charAt(0).toUpperCase() + many.slice(1);
  return (
    <section className={classes.items} aria-label={title}>
      <div className={classes.itemsHead}>
        <strong>{title}</strong>
        <SegmentedControl data={FILTERS} value={status} onChange={setStatus} aria-label={`Which ${many}`} />
      </div>
      <ItemBar step={step} />
      {pages.error ? <ErrorState compact error={pages.error} what={`the ${many}`} onRetry={pages.refetch} /> : null}
      {pages.isPending ? <LoadingRows rows={3} /> : null}
      {pages.data && items.length === 0 ? <p className={classes.empty}>No such item.</p> : null}
      {items.length > 0 ? (
        <ol className={classes.itemList}>
          {items.map((item) => (
            <ItemRow key={item.index} item={item} />
          ))}
        </ol>
      ) : null}
      {pages.hasNextPage ? (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Load more {many}
        </Button>
      ) : null}
    </section>
  );
}

function ItemBar({ step }: { step: LiveStep }) {
  const { map } = step;
  if (!map || map.total === 0) return <p className={classes.empty}>The list was empty: there are no items.</p>;
  const share = (count: number) => `${(Math.max(0, count) / map.total) * 100}%`;
  return (
    <>
      <div className={classes.itemBar} aria-hidden="true">
        <span data-part="done" style={{ width: share(map.settled - map.failed) }} />
        <span data-part="failed" style={{ width: share(map.failed) }} />
        <span data-part="open" style={{ width: share(map.opened - map.settled) }} />
      </div>
      <span className="num">
        {map.settled} of {map.total} done{map.failed > 0 ? `, ${map.failed} failed` : ''}
        {map.opened > map.settled ? `, ${map.opened - map.settled} open` : ''}
      </span>
    </>
  );
}

function ItemRow({ item }: { item: Item }) {
  const { selectStep } = useSelection();
  const { focus } = item;
  return (
    <li>
      <button type="button" className={classes.item} onClick={() => selectStep(focus.path)}>
        <span className="num">{item.index}</span>
        {item.steps.map((step) => (
          <StatusShape key={step.path} status={shownStatus(step)} size={12} />
        ))}
        <span className={classes.itemText}>{focus.error?.message ?? STATUS_LOOKS[shownStatus(focus)].word}</span>
        <span className="num">{formatDuration(item.duration_ms)}</span>
      </button>
    </li>
  );
}
