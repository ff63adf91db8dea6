import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';

import type { ServerMessage } from './live-messages';
import type { ConnectionState, LiveSocket } from './live-socket';

export function liveUrl(location: Pick<Location, 'protocol' | 'host'> = window.location): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/live`;
}

export const LiveContext = createContext<LiveSocket | null>(null);

export function useLive(): LiveSocket {
  const live = useContext(LiveContext);
  if (!live) throw new Error('useLive is called outside the providers');
  return live;
}

export function useConnectionState(): ConnectionState {
  const live = useLive();
  return useSyncExternalStore(
    (changed) => live.onState(changed),
    () => live.state,
  );
}

/** How often a query asks by itself: never while the socket tells, every two seconds while it is away. */
export function usePollingInterval(): number | false {
  const state = useConnectionState();
  return state === 'live' || state === 'connecting' ? false : 2000;
}

/** Calls `onMessage` with what the server tells of a workspace's runs and waits, while the component is there. */
export function useListMessages(workspace: string, onMessage: (message: ServerMessage) => void): void {
  const live = useLive();
  const latest = useRef(onMessage);
  latest.current = onMessage;
  useEffect(() => live.followList({ workspace, onMessage: (message) => latest.current(message) }), [live, workspace]);
}
