import { useEffect, useMemo, useState } from 'react';

import { useConnectionState, useLive } from '../../api/live';
import type { ConnectionState } from '../../api/live-socket';
import type { NodeStatus, StepStatus } from '../../diagram';
import { formatClock } from '../../lib/format';

/** 'live' by the socket, 'polling' by questions, 'lost' when neither tells what goes on: then all is as of `heardAt`. */
export type Freshness = { how: 'live' | 'polling' } | { how: 'lost'; heardAt: number };

/** A connection that comes back at once is not worth a word. */
const GRACE_MS = 400;

export function freshnessOf(state: ConnectionState, heardAt: number): Freshness {
  if (state === 'live' || state === 'connecting') return { how: 'live' };
  return state === 'polling' ? { how: 'polling' } : { how: 'lost', heardAt };
}

/** How far what the page shows can be believed. */
export function useFreshness(): Freshness {
  const live = useLive();
  const state = useConnectionState();
  const [settled, setSettled] = useState(state);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(state), state === 'reconnecting' ? GRACE_MS : 0);
    return () => clearTimeout(timer);
  }, [state]);
  const { heardAt } = live; // it stands still while nothing is heard, and only then it is told
  const since = freshnessOf(settled, 0).how === 'lost' ? heardAt : 0;
  return useMemo(() => freshnessOf(settled, since), [settled, since]);
}

/** What is shown of a step while nobody knows what it does: that it runs is never said. */
export const lastKnown = (status: StepStatus, isLost: boolean): StepStatus =>
  isLost && status === 'running' ? 'was_running' : status;

const sentences = new WeakMap<NodeStatus, NodeStatus>();

/** The same for a node. The same status gives the same object, so that nothing is drawn again for nothing. */
export function lastKnownNode(status: NodeStatus, freshness: Freshness): NodeStatus {
  if (freshness.how !== 'lost' || status.status !== 'running') return status;
  const known = sentences.get(status);
  if (known) return known;
  const made: NodeStatus = {
    ...status,
    status: 'was_running',
    sentence: `Was running when Pawl was last heard, at ${formatClock(new Date(freshness.heardAt).toISOString())}.`,
  };
  sentences.set(status, made);
  return made;
}

/** The moment up to which time is counted: null goes on. A clock that runs would say that the run does. */
export const knownUntil = (freshness: Freshness): string | null =>
  freshness.how === 'lost' ? new Date(freshness.heardAt).toISOString() : null;
