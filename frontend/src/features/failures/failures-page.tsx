import { Button, SegmentedControl } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';

import type { BulkAsked } from '../../api/bulk';
import { type FailureShow, listFailures } from '../../api/failures';
import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { BulkDialog } from '../../components/bulk/bulk-dialog';
import { Card, Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { FailureRow } from './failure-row';
import classes from './failures.module.css';

const SHOWS: { value: FailureShow; label: string; empty: string }[] = [
  { value: 'open', label: 'Open', empty: 'No failure waits for anybody' },
  { value: 'handled', label: 'Handled', empty: 'Nobody has a failure in hand' },
  { value: 'ignored', label: 'Ignored', empty: 'No failure is ignored' },
  { value: 'resolved', label: 'Resolved', empty: 'No failure was resolved yet' },
];
const EVERY_MS = 10_000;

/** /w/:ws/failures */
export function FailuresPage() {
  const ws = useWorkspace();
  const [params, setParams] = useSearchParams();
  const [asked, setAsked] = useState<BulkAsked | null>(null);
  const show = SHOWS.find((one) => one.value === params.get('show')) ?? (SHOWS[0] as (typeof SHOWS)[number]);
  const failures = useInfiniteQuery({
    queryKey: [...keys.failures(ws), 'list', show.value],
    queryFn: ({ pageParam, signal }) =>
      listFailures(ws, { show: show.value, limit: 20, cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: EVERY_MS,
  });
  const items = failures.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title="Failures"
      hint="Failed runs by what went wrong: once the cause is mended, resume all of them together."
    >
      <div className={classes.shows}>
        <SegmentedControl
          aria-label="Which failures"
          data={SHOWS.map(({ value, label }) => ({ value, label }))}
          value={show.value}
          onChange={(value) => setParams(value === 'open' ? {} : { show: value }, { replace: true })}
        />
      </div>
      <Card>
        {failures.isPending ? <LoadingRows label="Loading the failures" /> : null}
        {failures.isError && items.length === 0 ? (
          <ErrorState error={failures.error} what="the failures" onRetry={failures.refetch} />
        ) : null}
        {failures.isSuccess && items.length === 0 ? (
          <EmptyState icon={<IconCircleCheck size={22} />} title={show.empty}>
            {show.value === 'open' ? 'What fails stands here within seconds, grouped by its error.' : null}
          </EmptyState>
        ) : null}
        {items.length > 0 ? (
          <ul className={classes.list} aria-label={`${show.label} failures`}>
            {items.map((group) => (
              <FailureRow
                key={group.fingerprint}
                ws={ws}
                group={group}
                onResume={() =>
                  setAsked({ operation: 'resume', selection: { filter: { fingerprint: group.fingerprint } } })
                }
              />
            ))}
          </ul>
        ) : null}
      </Card>
      {failures.hasNextPage ? (
        <div className={classes.more}>
          <Button variant="default" loading={failures.isFetchingNextPage} onClick={() => void failures.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
      {asked ? <BulkDialog asked={asked} onClose={() => setAsked(null)} /> : null}
    </Page>
  );
}
