import { useEffect, useMemo, useRef } from 'react';

import { isWhole, Replay } from './replay';
import { useSelection } from './selection';
import { useMonitor, useMonitorState } from './store';
import { useHistory } from './use-history';

export interface Past {
  /** The event up to which the run is shown; null: now. */
  at: number | null;
  last: number;
  /** Why the past cannot be shown. */
  problem: string | null;
  go: (seq: number) => void;
  step: (by: number) => void;
  leave: () => void;
}

const TOO_LONG = 'The log is too long to be played from its beginning here.';

/** Shows the run as it was after an event of its log, where the address asks for that: ?at=41. Once on a page. */
export function usePast(): Past {
  const { store } = useMonitor();
  const { at: asked, setAt } = useSelection();
  const last = useMonitorState(({ run }) => run?.seq ?? 0);
  const at = asked !== null && asked < last ? asked : null;
  const { events, isPending, error } = useHistory(at !== null);
  const replay = useRef<Replay | null>(null);
  const problem = at === null || isPending ? null : error || !isWhole(events) ? TOO_LONG : null;
  const past = useMemo(() => {
    const { run } = store.getState();
    if (at === null || isPending || problem !== null || run === null) return null;
    replay.current ??= new Replay(run, events);
    replay.current.grow(events);
    return replay.current.at(at);
  }, [store, at, isPending, problem, events]);
  const pastAt = past === null ? null : (events[past.seq - 1]?.at ?? null);
  useEffect(() => store.setState({ past, pastAt }), [store, past, pastAt]);
  useEffect(() => () => store.setState({ past: null, pastAt: null }), [store]);
  // Keys may come faster than the page is drawn: each counts from the one before, and what is drawn late is no news.
  const wanted = useRef(at);
  const own = useRef(new Set<number | null>());
  useEffect(() => {
    if (at !== wanted.current && own.current.delete(at)) return;
    wanted.current = at;
    own.current.clear();
  }, [at]);
  return useMemo(() => {
    const go = (seq: number) => {
      wanted.current = seq >= last ? null : Math.max(1, seq);
      own.current.add(wanted.current);
      setAt(wanted.current);
    };
    return { at, last, problem, go, step: (by) => go((wanted.current ?? last) + by), leave: () => go(last) };
  }, [at, last, problem, setAt]);
}
