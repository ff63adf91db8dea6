import { IconInbox } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';

import { usePollingInterval } from '../../api/live';
import { keys } from '../../api/query-keys';
import type { OpenWait } from '../../api/types';
import { useMay, useWorkspace } from '../../api/workspace';
import { listWaits } from '../../api/workspace-calls';
import { Question } from '../../components/approval/question';
import { Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import classes from './inbox.module.css';

/** /w/:ws/inbox: everything that waits for a person. The chosen one is in the address: ?wait=id */
export function InboxPage() {
  const ws = useWorkspace();
  const polling = usePollingInterval();
  const waits = useQuery({
    queryKey: keys.waits(ws),
    queryFn: ({ signal }) => listWaits(ws, { signal }),
    refetchInterval: polling === false ? 15_000 : polling,
  });
  const items = waits.data?.items ?? [];
  const hint = waits.data
    ? `${formatCount(items.length, 'question waits', 'questions wait')} for a person. No worker is held meanwhile.`
    : '';
  return (
    <Page title="Inbox" hint={items.length > 0 ? hint : 'Questions that runs ask a person.'}>
      {waits.isPending ? <LoadingRows label="Loading the inbox" /> : null}
      {waits.isError ? <ErrorState error={waits.error} what="the inbox" onRetry={waits.refetch} /> : null}
      {waits.data && items.length === 0 ? (
        <EmptyState icon={<IconInbox size={22} />} title="Nothing waits for a person">
          When a run reaches an approval or a form, its question appears here and the run stands still without a worker.
        </EmptyState>
      ) : null}
      {items.length > 0 ? <Split ws={ws} waits={items} /> : null}
    </Page>
  );
}

function Split({ ws, waits }: { ws: string; waits: readonly OpenWait[] }) {
  const [params, setParams] = useSearchParams();
  const may = useMay('approve');
  const client = useQueryClient();
  const chosen = waits.find((wait) => wait.id === params.get('wait')) ?? waits[0];
  const onAnswered = () => {
    setParams({}, { replace: true });
    void client.invalidateQueries({ queryKey: keys.waits(ws) });
  };
  return (
    <div className={classes.split}>
      <ul className={classes.list} aria-label="Open questions">
        {waits.map((wait) => (
          <li key={wait.id}>
            <button
              type="button"
              className={classes.row}
              aria-current={wait.id === chosen?.id || undefined}
              onClick={() => setParams({ wait: wait.id }, { replace: true })}
            >
              <span className={classes.question}>{String(wait.data.title ?? wait.path)}</span>
              <span className={classes.meta}>
                {wait.run.workflow.name} · run {wait.run.number} · <TimeAgo at={wait.opened_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {chosen ? (
        <div className={classes.detail}>
          <p className={classes.from}>
            <Link to={paths.run(ws, chosen.run.id, chosen.path)}>
              Run {chosen.run.number} of {chosen.run.workflow.name}
            </Link>{' '}
            waits at <code>{chosen.path}</code>
          </p>
          <Question key={chosen.id} ws={ws} wait={chosen} may={may} onAnswered={onAnswered} />
        </div>
      ) : null}
    </div>
  );
}
