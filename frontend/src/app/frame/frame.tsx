import { lazy, Suspense, useEffect, useMemo } from 'react';
import { Outlet, useLocation, useParams } from 'react-router';

import { PlaceContext } from '../../api/workspace';
import { ErrorState, LoadingRows } from '../../components/ui/states';
import { LAST_WORKSPACE } from '../home';
import { NotFoundPage } from '../problem-pages';
import { useSession } from '../session';
import classes from './frame.module.css';
import { useWorkspaceHints } from './hints';
import { Rail } from './rail';
import { ShortcutSheet } from './shortcut-sheet';
import { TopBar } from './top-bar';

// Not needed to draw the first page.
const CommandBar = lazy(async () => ({ default: (await import('./command-bar')).CommandBar }));

/** The frame around every page of a workspace. */
export function Frame() {
  const { ws = '' } = useParams();
  const session = useSession();
  const workspace = session.data?.workspaces.find((one) => one.slug === ws);
  const place = useMemo(
    () => (session.data && workspace ? { session: session.data, workspace } : null),
    [session.data, workspace],
  );
  if (session.isPending) return <LoadingRows label="Loading Pawl" />;
  // What is open stays open while nobody answers: its pages say how old they are.
  if (session.isError && !session.data)
    return <ErrorState error={session.error} what="Pawl" onRetry={session.refetch} />;
  if (!place) return <NotFoundPage />;
  return (
    <PlaceContext value={place}>
      <Inside key={place.workspace.slug} ws={place.workspace.slug} />
    </PlaceContext>
  );
}

function Inside({ ws }: { ws: string }) {
  useWorkspaceHints(ws);
  const { pathname } = useLocation();
  useEffect(() => localStorage.setItem(LAST_WORKSPACE, ws), [ws]);
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#page">
        Skip to the page
      </a>
      <Rail />
      <TopBar />
      <main id="page" className={classes.page} tabIndex={-1} key={pathname.split('/').slice(0, 4).join('/')}>
        <Outlet />
      </main>
      <Suspense fallback={null}>
        <CommandBar />
      </Suspense>
      <ShortcutSheet />
    </div>
  );
}
