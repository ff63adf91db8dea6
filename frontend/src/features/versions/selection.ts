/** What the page of versions shows, as its address says: ?show=3&with=2&node=n1. */
import { useSearchParams } from 'react-router';

/** A version's number, or the draft. */
export type Side = number | 'draft';

export interface Shown {
  show: Side;
  /** null: against nothing, so that all of it is new. */
  against: Side | null;
  node: string | null;
}

const sideOf = (text: string | null): Side | null =>
  text === 'draft' ? 'draft' : text && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** The draft against what is live; a version against the one before it. */
export function shownOf(query: URLSearchParams, live: number | null): Shown {
  const show = sideOf(query.get('show')) ?? 'draft';
  const asked = sideOf(query.get('with'));
  const before = show === 'draft' ? live : show > 1 ? show - 1 : null;
  return { show, against: asked !== null && asked !== show ? asked : before, node: query.get('node') };
}

export const nameOf = (side: Side | null): string =>
  side === null ? 'nothing' : side === 'draft' ? 'the draft' : `version ${side}`;

export function useShown(live: number | null) {
  const [query, setQuery] = useSearchParams();
  const set = (change: Record<string, string | null>, { replace = false } = {}) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value === null) next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace },
    );
  return { ...shownOf(query, live), set };
}
