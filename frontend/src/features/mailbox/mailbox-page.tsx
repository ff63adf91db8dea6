import { IconMail, IconPaperclip } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';

import { ApiError } from '../../api/errors';
import { keys } from '../../api/query-keys';
import type { Mail } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { listMails, readMail } from '../../api/workspace-calls';
import { Page } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import classes from './mailbox.module.css';

const HINT = 'Mails that runs sent on this machine. The local mail server took them; none left the machine.';

/** /w/:ws/mailbox?mail=id: only where `make run` keeps a local mailbox. */
export function MailboxPage() {
  const ws = useWorkspace();
  const mails = useQuery({
    queryKey: keys.mailbox(ws),
    queryFn: ({ signal }) => listMails(ws, { signal }),
    refetchInterval: 5000,
    retry: false,
  });
  const isElsewhere = mails.error instanceof ApiError && mails.error.status === 404;
  const items = mails.data?.items ?? [];
  return (
    <Page title="Local mailbox" hint={HINT}>
      {mails.isPending ? <LoadingRows label="Loading the mails" /> : null}
      {isElsewhere ? (
        <EmptyState icon={<IconMail size={22} />} title="There is no local mailbox here">
          This Pawl sends its mail for real. The mailbox belongs to the demo that `make run` starts.
        </EmptyState>
      ) : null}
      {mails.isError && !isElsewhere ? (
        <ErrorState error={mails.error} what="the mailbox" onRetry={mails.refetch} />
      ) : null}
      {mails.data && items.length === 0 ? (
        <EmptyState icon={<IconMail size={22} />} title="No mail yet">
          Run 'Supplier invoices': its step 'Notify' sends one.
        </EmptyState>
      ) : null}
      {items.length > 0 ? <Split ws={ws} mails={items} /> : null}
    </Page>
  );
}

function Split({ ws, mails }: { ws: string; mails: readonly Mail[] }) {
  const [params, setParams] = useSearchParams();
  const chosen = mails.find((mail) => mail.id === params.get('mail')) ?? mails[0];
  return (
    <div className={classes.split}>
      <ul className={classes.list} aria-label="Mails, newest first">
        {mails.map((mail) => (
          <li key={mail.id}>
            <button
              type="button"
              className={classes.row}
              aria-current={mail.id === chosen?.id || undefined}
              onClick={() => setParams({ mail: mail.id }, { replace: true })}
            >
              <span className={classes.subject}>{mail.subject || '(no subject)'}</span>
              <span className={classes.meta}>
                to {mail.to} · <TimeAgo at={mail.received_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {chosen ? <Opened key={chosen.id} ws={ws} id={chosen.id} /> : null}
    </div>
  );
}

function Opened({ ws, id }: { ws: string; id: string }) {
  const opened = useQuery({ queryKey: keys.mail(ws, id), queryFn: ({ signal }) => readMail(ws, id, { signal }) });
  if (opened.isPending) return <LoadingRows label="Loading the mail" />;
  if (opened.isError) return <ErrorState error={opened.error} what="this mail" onRetry={opened.refetch} />;
  const { mail, text, has_html, attachments } = opened.data;
  return (
    <article className={classes.mail}>
      <h2>{mail.subject || '(no subject)'}</h2>
      <dl className={classes.headers}>
        <dt>From</dt>
        <dd>{mail.sender}</dd>
        <dt>To</dt>
        <dd>{mail.to}</dd>
        {mail.idempotency_key ? (
          <>
            <dt>Idempotency key</dt>
            <dd>
              <code>{mail.idempotency_key}</code>
            </dd>
          </>
        ) : null}
      </dl>
      <pre className={classes.text}>{text || '(no plain text)'}</pre>
      {has_html ? <p className={classes.meta}>It also has an HTML part, which is not shown.</p> : null}
      {attachments.map((name) => (
        <p key={name} className={classes.meta}>
          <IconPaperclip size={13} aria-hidden="true" /> {name}
        </p>
      ))}
    </article>
  );
}
