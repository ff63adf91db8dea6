import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';

export const VIEWS = ['canvas', 'timeline', 'events'] as const;
export type View = (typeof VIEWS)[number];
export const PANES = ['input', 'output', 'logs', 'partial'] as const;
export type Pane = (typeof PANES)[number];

export interface Selection {
  /** The path of the selected step run. */
  step: string | null;
  view: View;
  pane: Pane | null;
  attempt: number | null;
  /** The event up to which the run is shown; null: as it is now. */
  at: number | null;
  selectStep: (path: string | null) => void;
  setView: (view: View) => void;
  setPane: (pane: Pane) => void;
  setAttempt: (attempt: number) => void;
  setAt: (seq: number | null) => void;
}

const oneOf = <T extends string>(all: readonly T[], value: string | null): T | null =>
  all.find((one) => one === value) ?? null;

const countIn = (params: URLSearchParams, name: string): number | null => {
  const count = Number(params.get(name));
  return Number.isInteger(count) && count > 0 ? count : null;
};

/** What is selected on a run page. It lives in the address, so a link reopens it: ?step=each[17].ocr&view=timeline&tab=logs. */
export function useSelection(): Selection {
  const [params, setParams] = useSearchParams();
  const change = useCallback(
    (changes: { [name: string]: string | null }, replace = true) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
            if (value === null) next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace },
      ),
    [setParams],
  );
  const attempt = countIn(params, 'attempt');
  const at = countIn(params, 'at');
  return useMemo(
    () => ({
      step: params.get('step'),
      view: oneOf(VIEWS, params.get('view')) ?? 'canvas',
      pane: oneOf(PANES, params.get('tab')),
      attempt,
      at,
      selectStep: (path) => change({ step: path, attempt: null, ...(path === null ? { tab: null } : {}) }, false),
      setView: (view) => change({ view: view === 'canvas' ? null : view }),
      setPane: (pane) => change({ tab: pane }),
      setAttempt: (number) => change({ attempt: String(number) }),
      setAt: (seq) => change({ at: seq === null ? null : String(seq) }),
    }),
    [params, attempt, at, change],
  );
}
