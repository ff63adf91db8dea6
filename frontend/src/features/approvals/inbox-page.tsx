import { IconArrowLeft, IconForms, IconInbox, IconUserCheck } from '@tabler/icons-react';
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
import { ClosedQuestion } from './closed';
import { Follows } from './follows';
import classes from './inbox.module.css';
import { quorumOf } from './quorum';
import { TimeLeft } from './time-left';

/**
 * /w/:ws/inbox: everything that waits for a person. The chosen one is in the address: ?wait=id. On a phone that one
 * alone is shown, and without it the list.
 */
export function InboxPage() {
  const ws = useWorkspace();
  const polling = usePollingInterval();
  const [params] = useSearchParams();
  const waits = useQuery({
    queryKey: keys.waits(ws),
    queryFn: ({ signal }) => listWaits(ws, { signal }),
    refetchInterval: polling === false ? 15_000 : polling,
  });
  const items = waits.data?.items ?? [];
  const asked = params.get('wait');
  const hint = waits.data
    ? `${formatCount(items.length, 'question waits', 'questions wait')} for a person. No worker is held meanwhile.`
    : '';
  return (
    <Page title="Inbox" hint={items.length > 0 ? hint : 'Questions that runs ask a person.'}>
      {waits.isPending ? <LoadingRows label="Loading the inbox" /> : null}
      {waits.isError ? <ErrorState error={waits.error} what="the inbox" onRetry={waits.refetch} /> : null}
      {waits.data && items.length === 0 && !asked ? (
        <EmptyState icon={<IconInbox size={22} />} title="Nothing waits for a person">
          When a run reaches an approval or a form, its question appears here and the run stands still without a worker.
        </EmptyState>
      ) : null}
      {waits.data && (items.length > 0 || asked) ? <Split waits={items} asked={asked} /> : null}
    </Page>
  );
}

function Split({ waits, asked }: { waits: readonly OpenWait[]; asked: string | null }) {
  const [, setParams] = useSearchParams();
  const chosen = asked ? waits.find((wait) => wait.id === asked) : waits[0];
  const choose = (id: string) => setParams({ wait: id });
  return (
    <div className={classes.split} data-asked={asked !== null || undefined}>
      {waits.length > 0 ? (
        <ul className={classes.list} aria-label="Open questions">
          {waits.map((wait) => (
            <Row key={wait.id} wait={wait} isChosen={wait.id === chosen?.id} onChoose={() => choose(wait.id)} />
          ))}
        </ul>
      ) : null}
      <div className={classes.detail}>
        <button type="button" className={classes.back} onClick={() => setParams({})}>
          <IconArrowLeft size={15} aria-hidden="true" /> All questions
        </button>
        {chosen ? <Detail wait={chosen} onAnswered={() => setParams({}, { replace: true })} /> : null}
        {asked && !chosen ? <ClosedQuestion id={asked} /> : null}
      </div>
    </div>
  );
}

function Row({ wait, isChosen, onChoose }: { wait: OpenWait; isChosen: boolean; onChoose: () => void }) {
  const Icon = wait.kind === 'form' ? IconForms : IconUserCheck;
  const quorum = quorumOf(wait);
  return (
    <li>
      <button type="button" className={classes.row} aria-current={isChosen || undefined} onClick={onChoose}>
        <Icon size={16} aria-hidden="true" className={classes.icon} />
        <span className={classes.question}>{String(wait.data.title ?? wait.path)}</span>
        <span className={classes.meta}>
          {wait.run.workflow.name} · run {wait.run.number} · <TimeAgo at={wait.opened_at} />
        </span>
        <span className={classes.marks}>
          <TimeLeft until={wait.expires_at} />
          {quorum ? <span>{quorum}</span> : null}
        </span>
      </button>
    </li>
  );
}

function Detail({ wait, onAnswered }: { wait: OpenWait; onAnswered: () => void }) {
  const ws = useWorkspace();
  const may = useMay('approve');
  const client = useQueryClient();
  const done = () => {
    onAnswered();
    void client.invalidateQueries({ queryKey: keys.waits(ws) });
  };
  return (
    <>
      <p className={classes.from}>
        <span>
          <Link to={paths.run(ws, wait.run.id, wait.path)}>
            Run {wait.run.number} of {wait.run.workflow.name}
          </Link>{' '}
          v{wait.run.version} waits at <code>{wait.path}</code>
        </span>
        <TimeLeft until={wait.expires_at} />
      </p>
      <Question
        key={wait.id}
        ws={ws}
        wait={wait}
        may={may}
        extra={<Follows follows={wait.follows} />}
        onAnswered={done}
      />
    </>
  );
}
