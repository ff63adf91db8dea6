import { IconUsers } from '@tabler/icons-react';
import { Navigate } from 'react-router';

import { EmptyState, ErrorState, LoadingRows } from '../components/ui/states';
import { paths } from '../lib/paths';
import { useSession } from './session';

/** `/` leads to the workspace that was open last, else to the first one. */
export function HomeRedirect() {
  const session = useSession();
  if (session.isPending) return <LoadingRows />;
  if (session.isError) return <ErrorState error={session.error} what="your workspaces" onRetry={session.refetch} />;
  const { workspaces } = session.data;
  const last = localStorage.getItem(LAST_WORKSPACE);
  const target = workspaces.find((one) => one.slug === last) ?? workspaces[0];
  if (target) return <Navigate to={paths.workflows(target.slug)} replace />;
  return (
    <EmptyState icon={<IconUsers size={22} />} title="You are not in a workspace yet">
      Everything in Pawl belongs to a workspace. Ask the owner of yours to add {session.data.user.email}.
    </EmptyState>
  );
}

export const LAST_WORKSPACE = 'pawl.workspace';
