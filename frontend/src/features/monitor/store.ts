import { createContext, useContext } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';

import type { ApiError } from '../../api/errors';
import type { LiveSocket } from '../../api/live-socket';
import type { RunRef } from '../../api/runs';
import type { Breakpoint, Pulse, RunEvent } from '../../api/types';
import { RunFollower } from './follow-run';
import type { RunState } from './reducer';

export interface MonitorState {
  run: RunState | null;
  /** The run as it was after an event, while somebody looks at that; null: now. */
  past: RunState | null;
  /** When that event was. */
  pastAt: string | null;
  error: unknown;
  /** Set once the run is no longer open to this person: then nothing of it is shown. */
  closed: ApiError | null;
  /** Who is at work and was heard when, and how far each step got. */
  pulses: ReadonlyMap<string, Pulse>;
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

const EMPTY: MonitorState = {
  run: null,
  past: null,
  pastAt: null,
  error: null,
  closed: null,
  pulses: new Map(),
  events: [],
  since: 0,
};

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

const there = (run: RunState | null): RunState => {
  if (!run) throw new Error('a part of the run page is drawn before the run is there');
  return run;
};

export const shownOf = ({ run, past }: MonitorState): RunState | null => past ?? run;

/** The run as it is shown: of now, or of the moment in its past that somebody looks at. */
export function useRunState<T>(select: (state: RunState) => T): T {
  return useMonitorState((state) => select(there(shownOf(state))));
}

/** The run as it is, whatever is shown: what can be done is done to this one. */
export function useLiveRunState<T>(select: (state: RunState) => T): T {
  return useMonitorState(({ run }) => select(there(run)));
}

/** Whether the page shows the past, where nothing can be done. */
export const useIsPast = (): boolean => useMonitorState(({ past }) => past !== null);
