import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';

import { goToSignIn } from '../api/client';
import { ApiError } from '../api/errors';
import { LiveContext, liveUrl } from '../api/live';
import { LiveSocket } from '../api/live-socket';
import { keys } from '../api/query-keys';
import { readStyleNonce } from '../lib/style-nonce';
import { cssVariables, theme } from './theme';

/** A signed-out session shows itself in any call; whoever sees it first goes to the sign-in page. */
function onError(error: unknown): void {
  if (error instanceof ApiError && (error.status === 401 || error.code === 'not_signed_in')) goToSignIn();
}

function retry(failures: number, error: unknown): boolean {
  return error instanceof ApiError && (error.isOffline || error.status >= 500) ? failures < 3 : false;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: { queries: { retry, staleTime: 5000, refetchOnWindowFocus: true } },
  });
}

function useLiveSocket(client: QueryClient): LiveSocket {
  // Asking for the session again tells which it was: its refusal leads to the sign-in page, else the rights are new.
  const [live] = useState(
    () => new LiveSocket({ url: liveUrl, onShutOut: () => void client.invalidateQueries({ queryKey: keys.session }) }),
  );
  useEffect(() => {
    live.connect();
    const hurry = () => live.hurry();
    const onFront = () => document.visibilityState === 'visible' && live.hurry();
    window.addEventListener('online', hurry);
    document.addEventListener('visibilitychange', onFront);
    return () => {
      window.removeEventListener('online', hurry);
      document.removeEventListener('visibilitychange', onFront);
      live.close();
    };
  }, [live]);
  return live;
}

export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient);
  const live = useLiveSocket(client);
  return (
    <Ground client={client} live={live}>
      {children}
    </Ground>
  );
}

interface GroundProps {
  client: QueryClient;
  live: LiveSocket;
  children: ReactNode;
  /** Tests draw without transitions and portals that outlive them. */
  env?: 'default' | 'test';
}

/** What every page stands on. */
export function Ground({ client, live, children, env = 'default' }: GroundProps) {
  return (
    <QueryClientProvider client={client}>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={readStyleNonce}
        env={env}
      >
        <ModalsProvider>
          <Notifications position="top-center" />
          <LiveContext value={live}>{children}</LiveContext>
        </ModalsProvider>
      </MantineProvider>
    </QueryClientProvider>
  );
}
