import { useQuery } from '@tanstack/react-query';

import { keys } from '../api/query-keys';
import { readSession } from '../api/workspace-calls';

export function useSession() {
  return useQuery({ queryKey: keys.session, queryFn: ({ signal }) => readSession({ signal }), staleTime: 60_000 });
}
