import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useSearchParams } from 'react-router';

import { type Bulk, continueBulk, readBulk, stopBulk } from '../../api/bulk';
import { keys } from '../../api/query-keys';
import { useMay, useWorkspace } from '../../api/workspace';
import { labelSentence, titleOf } from '../../components/bulk/words';
import { useCrumbs } from '../../components/ui/crumbs';
import { notifyFailure } from '../../components/ui/notify';
import { Card, Page } from '../../components/ui/page';
import { ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { formatCount } from '../../lib/format';
import classes from './bulk.module.css';
import { BulkStatus } from './bulk-status';
import { canContinue, canStop, PARTS, type Part, progressSentence } from './progress';
import { PartFilter, ProgressBar } from './progress-bar';
import { ResultsTable } from './results-table';

const EVERY_MS = 1000;

/** /w/:ws/bulk/:id */
export function BulkPage() {
  const ws = useWorkspace();
  const { id = '' } = useParams();
  const [params, setParams] = useSearchParams();
  const bulk = useQuery({
    queryKey: keys.bulk(ws, id),
    queryFn: ({ signal }) => readBulk(ws, id, { signal }),
    refetchInterval: (query) => (query.state.data?.status === 'done' ? false : EVERY_MS),
  });
  useCrumbs({ label: bulk.data ? titleOf(bulk.data) : 'Operation' });
  if (bulk.isPending) return <LoadingRows label="Loading the bulk operation" />;
  if (!bulk.data) return <ErrorState error={bulk.error} what="the bulk operation" onRetry={bulk.refetch} />;
  const shown = PARTS.find((part) => part === params.get('show')) ?? '';
  const show = (part: Part | '') => setParams(part ? { show: part } : {}, { replace: true });
  return (
    <Page title={titleOf(bulk.data)} hint={<Facts bulk={bulk.data} />} actions={<Acts bulk={bulk.data} />}>
      <Card>
        <div className={classes.head} data-status={bulk.data.status}>
          <div className={classes.sentence}>
            <BulkStatus status={bulk.data.status} />
            <span aria-live="polite">{progressSentence(bulk.data)}</span>
          </div>
          <ProgressBar counts={bulk.data.counts} />
          <PartFilter counts={bulk.data.counts} shown={shown} onShow={show} />
        </div>
        <ResultsTable ws={ws} bulk={bulk.data} shown={shown} />
      </Card>
    </Page>
  );
}

/** Who asked for it, when, and how it goes about it. */
function Facts({ bulk }: { bulk: Bulk }) {
  const pace = [
    bulk.canary ? `waits after the first ${bulk.canary}` : '',
    bulk.rate_per_s ? `at most ${formatCount(bulk.rate_per_s, 'run')} a second` : '',
    labelSentence((bulk.request as { labels?: { add: string[]; remove: string[] } }).labels),
  ].filter(Boolean);
  return (
    <>
      {bulk.actor}, <TimeAgo at={bulk.created_at} />
      {pace.length > 0 ? ` · ${pace.join(' · ')}` : ''}
    </>
  );
}

function Acts({ bulk }: { bulk: Bulk }) {
  const ws = useWorkspace();
  const may = useMay('run');
  const client = useQueryClient();
  const settled = {
    onSuccess: (fresh: Bulk) => client.setQueryData(keys.bulk(ws, bulk.id), fresh),
    onSettled: () => void client.invalidateQueries({ queryKey: keys.bulks(ws) }),
  };
  const stop = useMutation({
    mutationFn: () => stopBulk(ws, bulk.id),
    onError: (error) => notifyFailure('It was not stopped', error),
    ...settled,
  });
  const goOn = useMutation({
    mutationFn: () => continueBulk(ws, bulk.id, bulk.revision),
    onError: (error) => notifyFailure('It does not go on', error),
    ...settled,
  });
  if (!may) return null;
  return (
    <>
      {canStop(bulk.status) ? (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={15} />}
          loading={stop.isPending}
          onClick={() => stop.mutate()}
        >
          Stop
        </Button>
      ) : null}
      {canContinue(bulk.status) ? (
        <Button leftSection={<IconPlayerPlay size={15} />} loading={goOn.isPending} onClick={() => goOn.mutate()}>
          Continue with {formatCount(bulk.counts.pending, 'run')}
        </Button>
      ) : null}
    </>
  );
}
