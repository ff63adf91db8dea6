import { paths } from '../../lib/paths';

/** The pages that the command bar can go to. */
export const PAGES: readonly { label: string; to: (ws: string) => string }[] = [
  { label: 'Workflows', to: paths.workflows },
  { label: 'Runs', to: paths.runs },
  { label: 'Failed runs', to: (ws) => `${paths.runs(ws)}?status=failed` },
  { label: 'Failures', to: paths.failures },
  { label: 'Bulk operations', to: paths.bulks },
  { label: 'Inbox', to: paths.inbox },
  { label: 'Overview', to: paths.overview },
  { label: 'Alerts', to: (ws) => paths.alerts(ws) },
  { label: 'Connections', to: paths.connections },
  { label: 'Team', to: paths.team },
];
