import { createContext, useContext } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';

import type { ApiError } from '../../api/errors';
import type { LiveSocket } from '../../api/live-socket';
import type { RunRef } from '../../api/runs';
import type { Breakpoint, RunEvent } from '../../api/types';
import { RunFollower } from './follow-run';
import type { RunState } from './reducer';

export interface MonitorState {
  run: RunState | null;
  error: unknown;
  /** Set once the run is no longer open to this person: then nothing of it is shown. */
  closed: ApiError | null;
  /** Events that came since the page was opened. The history before them is asked when it is looked at. */
  events: readonly RunEvent[];
  /** The number of the last event before `events`. */
  since: number;
}

export interface Monitor {
  ref: RunRef;
  store: StoreApi<MonitorState>;
  start: () => void;
  stop: () => void;
  refresh: () => Promise<void>;
  learnBreakpoints: (breakpoints: Breakpoint[]) => void;
}

const EMPTY: MonitorState = { run: null, error: null, closed: null, events: [], since: 0 };

/** The state of one open run page. */
export function createMonitor(ref: RunRef, live: LiveSocket): Monitor {
  const store = createStore<MonitorState>(() => EMPTY);
  let follower: RunFollower | null = null;
  const listener = {
    onState: (run: RunState, fresh: readonly RunEvent[]) =>
      store.setState((before) =>
        fresh.length === 0
          ? { run, error: null, events: [], since: run.seq }
          : { run, error: null, events: [...before.events, ...fresh] },
      ),
    onError: (error: unknown) => store.setState({ error }),
    onClosed: (closed: ApiError) => store.setState({ ...EMPTY, closed }),
  };
  return {
    ref,
    store,
    start: () => {
      follower = new RunFollower(ref, live, listener);
      void follower.start();
    },
    stop: () => follower?.stop(),
    refresh: async () => follower?.refresh(),
    learnBreakpoints: (breakpoints) => follower?.learnBreakpoints(breakpoints),
  };
}

export const MonitorContext = createContext<Monitor | null>(null);

export function useMonitor(): Monitor {
  const monitor = useContext(MonitorContext);
  if (!monitor) throw new Error('useMonitor is called outside the run page');
  return monitor;
}

export function useMonitorState<T>(select: (state: MonitorState) => T): T {
  return useStore(useMonitor().store, select);
}

/** The run, below the gate that shows it only once it is there. */
export function useRunState<T>(select: (state: RunState) => T): T {
  return useMonitorState(({ run }) => {
    if (!run) throw new Error('useRunState is called before the run is there');
    return select(run);
  });
}
