import { Menu } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { IconCheck, IconChevronDown, IconLoader2, IconSearch } from '@tabler/icons-react';
import { Link, useLocation, useNavigate } from 'react-router';

import { usePlace } from '../../api/workspace';
import { useCrumbStore } from '../../components/ui/crumbs';
import { paths } from '../../lib/paths';
import { ConnectionIndicator } from './connection-indicator';
import classes from './frame.module.css';
import { useRunningCount } from './hints';
import { UserMenu } from './user-menu';

const SECTIONS: { [segment: string]: string } = {
  workflows: 'Workflows',
  runs: 'Runs',
  bulk: 'Bulk operations',
  failures: 'Failures',
  inbox: 'Inbox',
  overview: 'Overview',
  alerts: 'Alerts',
  connections: 'Connections',
  team: 'Team',
  mailbox: 'Local mailbox',
};

function WorkspaceSwitch() {
  const { session, workspace } = usePlace();
  const navigate = useNavigate();
  if (session.workspaces.length < 2) return <span className={classes.crumb}>{workspace.name}</span>;
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <button type="button" className={`${classes.crumb} ${classes.workspace}`}>
          {workspace.name}
          <IconChevronDown size={13} aria-hidden="true" />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {session.workspaces.map((one) => (
          <Menu.Item
            key={one.slug}
            onClick={() => navigate(paths.workflows(one.slug))}
            rightSection={one.slug === workspace.slug ? <IconCheck size={14} aria-label="open" /> : null}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Crumbs() {
  const { pathname } = useLocation();
  const crumbs = useCrumbStore((state) => state.crumbs);
  const { workspace } = usePlace();
  const segment = pathname.split('/')[3] ?? '';
  const section = SECTIONS[segment];
  const all = [...(section ? [{ label: section, to: `/w/${workspace.slug}/${segment}` }] : []), ...crumbs];
  return (
    <nav className={classes.crumbs} aria-label="Breadcrumb">
      <WorkspaceSwitch />
      {all.map((crumb, at) => {
        const isLast = at === all.length - 1;
        return (
          <span key={`${crumb.label}-${crumb.to ?? ''}`} style={{ display: 'contents' }}>
            <span className={classes.slash} aria-hidden="true">
              /
            </span>
            {isLast || !crumb.to ? (
              <span className={classes.crumb} aria-current={isLast ? 'page' : undefined}>
                {crumb.label}
              </span>
            ) : (
              <Link className={classes.crumb} to={crumb.to}>
                {crumb.label}
              </Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function RunningNow({ ws }: { ws: string }) {
  const running = useRunningCount(ws);
  if (running === 0) return null;
  return (
    <Link className={classes.running} to={`${paths.runs(ws)}?status=running`} title={`${running} running now`}>
      <IconLoader2 size={14} aria-hidden="true" />
      <span className="num">{running > 99 ? '99+' : running}</span>
      <span className="visually-hidden">runs are running</span>
    </Link>
  );
}

export function TopBar() {
  const { workspace } = usePlace();
  return (
    <header className={classes.bar}>
      <Crumbs />
      <button type="button" className={classes.search} onClick={spotlight.open}>
        <IconSearch size={14} aria-hidden="true" />
        <span className={classes.searchText}>Search</span>
        <kbd className={classes.kbd}>{/Mac/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ConnectionIndicator />
      <RunningNow ws={workspace.slug} />
      <UserMenu />
    </header>
  );
}
