import { Button } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { type Bulk, type BulkResult, listBulkRuns } from '../../api/bulk';
import { keys } from '../../api/query-keys';
import { Table } from '../../components/ui/page';
import { RunStatusBadge } from '../../components/ui/run-status';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import classes from './bulk.module.css';
import { ResultStatus } from './bulk-status';
import { PART_WORDS, type Part } from './progress';

interface Props {
  ws: string;
  bulk: Bulk;
  shown: Part | '';
}

/** What became of each run. Asked anew when a count has changed, not more often. */
export function ResultsTable({ ws, bulk, shown }: Props) {
  const { done, refused, skipped } = bulk.counts;
  const results = useInfiniteQuery({
    queryKey: [...keys.bulk(ws, bulk.id), 'runs', shown, `${done} ${refused} ${skipped}`],
    queryFn: ({ pageParam, signal }) => listBulkRuns(ws, bulk.id, { status: shown, cursor: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: (before) => before,
  });
  const items = results.data?.pages.flatMap((page) => page.items) ?? [];
  if (results.isPending) return <LoadingRows label="Loading the results" />;
  if (results.isError && items.length === 0) {
    return <ErrorState error={results.error} what="the results" onRetry={results.refetch} />;
  }
  if (items.length === 0) {
    return (
      <EmptyState compact icon={<IconStack2 size={22} />} title={shown ? `No run is ${PART_WORDS[shown]}` : 'No run'} />
    );
  }
  return (
    <>
      <Table label="Results" head={['Result', 'Run', 'Workflow', 'Why, or what came of it', 'The run now', 'When']}>
        {items.map((item) => (
          <Row key={item.run.id} ws={ws} item={item} />
        ))}
      </Table>
      {results.hasNextPage ? (
        <div className={classes.more}>
          <Button variant="default" loading={results.isFetchingNextPage} onClick={() => void results.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </>
  );
}

function Row({ ws, item }: { ws: string; item: BulkResult }) {
  const { run } = item;
  return (
    <tr>
      <td>
        <ResultStatus status={item.status} />
      </td>
      <td>{run.status ? <Link to={paths.run(ws, run.id)}>{run.number}</Link> : run.number}</td>
      <td>{run.workflow?.name ?? <span className={classes.soft}>the run is gone</span>}</td>
      <td>{item.message ?? <span className={classes.soft}>{outcome(item.result)}</span>}</td>
      <td>{run.status ? <RunStatusBadge status={run.status} /> : null}</td>
      <td className={classes.soft}>{item.acted_at ? <TimeAgo at={item.acted_at} /> : null}</td>
    </tr>
  );
}

/** What the act answered, where that tells something. */
function outcome(result: unknown): string {
  if (typeof result !== 'object' || result === null) return '';
  if ('again_count' in result) return `runs ${String(result.again_count)} again`;
  if ('labels' in result && Array.isArray(result.labels)) return result.labels.join(', ') || 'no label';
  return 'status' in result ? String(result.status) : '';
}
