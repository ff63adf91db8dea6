import { Button } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { listBulk } from '../../api/bulk';
import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { titleOf } from '../../components/bulk/words';
import { Card, Page, Table } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import classes from './bulk.module.css';
import { BulkStatus } from './bulk-status';
import { progressSentence } from './progress';
import { ProgressBar } from './progress-bar';

/** /w/:ws/bulk */
export function BulkListPage() {
  const ws = useWorkspace();
  const bulks = useInfiniteQuery({
    queryKey: [...keys.bulks(ws), 'list'],
    queryFn: ({ pageParam, signal }) => listBulk(ws, { limit: 50, cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: 3000,
  });
  const items = bulks.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Bulk operations" hint="One act on many runs: how far each is, and what became of every run.">
      <Card>
        {bulks.isPending ? <LoadingRows label="Loading the bulk operations" /> : null}
        {bulks.isError && items.length === 0 ? (
          <ErrorState error={bulks.error} what="the bulk operations" onRetry={bulks.refetch} />
        ) : null}
        {bulks.isSuccess && items.length === 0 ? (
          <EmptyState
            icon={<IconStack2 size={22} />}
            title="Nothing was done to many runs yet"
            action={
              <Button component={Link} to={paths.runs(ws)}>
                Go to the runs
              </Button>
            }
          >
            Choose runs in the list, and resume, cancel or label all of them at once.
          </EmptyState>
        ) : null}
        {items.length > 0 ? (
          <Table label="Bulk operations" head={['Operation', 'Status', 'Progress', 'Where it stands', 'By', 'Begun']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td>
                  <Link to={paths.bulk(ws, one.id)}>{titleOf(one)}</Link>
                </td>
                <td>
                  <BulkStatus status={one.status} />
                </td>
                <td className={classes.progress}>
                  <ProgressBar counts={one.counts} />
                </td>
                <td>{progressSentence(one)}</td>
                <td className={classes.soft}>{one.actor}</td>
                <td className={classes.soft}>
                  <TimeAgo at={one.created_at} />
                </td>
              </tr>
            ))}
          </Table>
        ) : null}
      </Card>
      {bulks.hasNextPage ? (
        <div className={classes.more}>
          <Button variant="default" loading={bulks.isFetchingNextPage} onClick={() => void bulks.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </Page>
  );
}
