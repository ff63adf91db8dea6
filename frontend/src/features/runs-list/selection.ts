import { useCallback, useState } from 'react';

/** Runs that a person chose: these, or all that the filters find. */
export interface Chosen {
  ids: ReadonlySet<string>;
  isAll: boolean;
  /** From where a range goes. */
  anchor: string | null;
}

export const NOTHING: Chosen = { ids: new Set(), isAll: false, anchor: null };

/** One more or one less; with `to`, every row between the anchor and it becomes what it becomes. */
export function choose(
  chosen: Chosen,
  id: string,
  { order, isRange }: { order: readonly string[]; isRange: boolean },
): Chosen {
  const before = chosen.isAll ? new Set(order) : chosen.ids;
  const isOn = !before.has(id);
  const ids = new Set(before);
  const from = isRange && chosen.anchor !== null ? order.indexOf(chosen.anchor) : -1;
  const to = order.indexOf(id);
  const range = from < 0 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const one of range) {
    if (isOn) ids.add(one);
    else ids.delete(one);
  }
  return { ids, isAll: false, anchor: id };
}

export function useSelection(order: readonly string[]) {
  const [chosen, setChosen] = useState<Chosen>(NOTHING);
  const toggle = useCallback(
    (id: string, isRange = false) => setChosen((before) => choose(before, id, { order, isRange })),
    [order],
  );
  const clear = useCallback(() => setChosen(NOTHING), []);
  const chooseListed = useCallback(() => setChosen({ ids: new Set(order), isAll: false, anchor: null }), [order]);
  const chooseAll = useCallback(() => setChosen({ ids: new Set(), isAll: true, anchor: null }), []);
  const has = (id: string) => chosen.isAll || chosen.ids.has(id);
  const areAllListed = order.length > 0 && order.every(has);
  return { chosen, toggle, clear, chooseListed, chooseAll, has, areAllListed };
}
