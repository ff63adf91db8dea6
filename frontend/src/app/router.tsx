import { type ComponentType, lazy, Suspense } from 'react';
import { createBrowserRouter, Navigate, type RouteObject } from 'react-router';

import { LoadingRows } from '../components/ui/states';
import { Frame } from './frame/frame';
import { HomeRedirect } from './home';
import { CrashPage, NotFoundPage } from './problem-pages';

/** Makes a route's element of a named export; the page's code is loaded when the route is first met. */
function page(load: () => Promise<ComponentType>) {
  const Lazy = lazy(async () => ({ default: await load() }));
  return (
    <Suspense fallback={<LoadingRows />}>
      <Lazy />
    </Suspense>
  );
}

export const routes: RouteObject[] = [
  { path: '/', element: <HomeRedirect />, errorElement: <CrashPage /> },
  {
    path: '/w/:ws',
    element: <Frame />,
    errorElement: <CrashPage />,
    children: [
      { index: true, element: <Navigate to="workflows" replace /> },
      {
        errorElement: <CrashPage />,
        children: [
          {
            path: 'workflows',
            element: page(async () => (await import('../features/library/WorkflowsPage')).WorkflowsPage),
          },
          {
            path: 'workflows/:id',
            element: page(async () => (await import('../features/canvas/CanvasPage')).CanvasPage),
          },
          {
            path: 'workflows/:id/triggers',
            element: page(async () => (await import('../features/triggers/triggers-page')).TriggersPage),
          },
          {
            path: 'workflows/:id/overview',
            element: page(async () => (await import('../features/overview/overview-page')).WorkflowOverviewPage),
          },
          {
            path: 'workflows/:id/versions',
            element: page(async () => (await import('../features/versions/versions-page')).VersionsPage),
          },
          {
            path: 'overview',
            element: page(async () => (await import('../features/overview/overview-page')).OverviewPage),
          },
          { path: 'alerts', element: page(async () => (await import('../features/alerts/alerts-page')).AlertsPage) },
          { path: 'runs', element: page(async () => (await import('../features/runs-list/runs-page')).RunsPage) },
          { path: 'runs/:id', element: page(async () => (await import('../features/monitor/run-page')).RunPage) },
          { path: 'bulk', element: page(async () => (await import('../features/bulk/bulk-list-page')).BulkListPage) },
          { path: 'bulk/:id', element: page(async () => (await import('../features/bulk/bulk-page')).BulkPage) },
          {
            path: 'failures',
            element: page(async () => (await import('../features/failures/failures-page')).FailuresPage),
          },
          { path: 'inbox', element: page(async () => (await import('../features/approvals/inbox-page')).InboxPage) },
          {
            path: 'connections',
            element: page(async () => (await import('../features/connections/connections-page')).ConnectionsPage),
          },
          { path: 'team', element: page(async () => (await import('../features/team/team-page')).TeamPage) },
          {
            path: 'mailbox',
            element: page(async () => (await import('../features/mailbox/mailbox-page')).MailboxPage),
          },
          { path: '*', element: <NotFoundPage /> },
        ],
      },
    ],
  },
  { path: '*', element: <NotFoundPage /> },
];

export const createRouter = () => createBrowserRouter(routes);
