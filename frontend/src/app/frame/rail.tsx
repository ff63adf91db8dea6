import {
  IconAlertTriangle,
  IconBell,
  IconChartBar,
  IconHierarchy2,
  IconInbox,
  IconMail,
  IconPlayerPlay,
  IconPlugConnected,
  IconUsers,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, NavLink } from 'react-router';

import { keys } from '../../api/query-keys';
import { useWorkspace } from '../../api/workspace';
import { listMails } from '../../api/workspace-calls';
import { paths } from '../../lib/paths';
import classes from './frame.module.css';
import { useFailureCount, useInboxCount } from './hints';
import { Logo } from './logo';

interface ItemProps {
  to: string;
  icon: ReactNode;
  label: string;
  count?: number;
}

function Item({ to, icon, label, count = 0 }: ItemProps) {
  return (
    <NavLink to={to} className={classes.item}>
      <span className={classes.iconBox} aria-hidden="true">
        {icon}
        {count > 0 ? <span className={classes.count}>{count > 99 ? '99+' : count}</span> : null}
      </span>
      <span>
        {label}
        {count > 0 ? <span className="visually-hidden">, {count} open</span> : null}
      </span>
    </NavLink>
  );
}

/** The local mailbox exists on a machine that runs the demo; elsewhere the server answers 404. */
function useHasMailbox(ws: string): boolean {
  const mails = useQuery({
    queryKey: keys.mailbox(ws),
    queryFn: ({ signal }) => listMails(ws, { signal }),
    retry: false,
    staleTime: 60_000,
  });
  return mails.isSuccess;
}

export function Rail() {
  const ws = useWorkspace();
  const waits = useInboxCount(ws);
  const failures = useFailureCount(ws);
  const hasMailbox = useHasMailbox(ws);
  return (
    <nav className={classes.rail} aria-label="Workspace">
      <div className={classes.railInner}>
        <Link to={paths.workflows(ws)} className={classes.logo} aria-label="Pawl, to the workflows">
          <Logo />
          <span aria-hidden="true">Pawl</span>
        </Link>
        <Item to={paths.workflows(ws)} icon={<IconHierarchy2 size={19} stroke={1.7} />} label="Workflows" />
        <Item to={paths.runs(ws)} icon={<IconPlayerPlay size={19} stroke={1.7} />} label="Runs" />
        <Item to={paths.inbox(ws)} icon={<IconInbox size={19} stroke={1.7} />} label="Inbox" count={waits} />
        <Item to={paths.overview(ws)} icon={<IconChartBar size={19} stroke={1.7} />} label="Overview" />
        <Item to={paths.alerts(ws)} icon={<IconBell size={19} stroke={1.7} />} label="Alerts" />
        <Item
          to={paths.failures(ws)}
          icon={<IconAlertTriangle size={19} stroke={1.7} />}
          label="Failures"
          count={failures}
        />
        <Item to={paths.connections(ws)} icon={<IconPlugConnected size={19} stroke={1.7} />} label="Connections" />
        <Item to={paths.team(ws)} icon={<IconUsers size={19} stroke={1.7} />} label="Team" />
        <div className={classes.spacer} />
        {hasMailbox ? (
          <Item to={paths.mailbox(ws)} icon={<IconMail size={19} stroke={1.7} />} label="Local mailbox" />
        ) : null}
      </div>
    </nav>
  );
}
