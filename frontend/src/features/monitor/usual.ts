import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { keys } from '../../api/query-keys';
import { readUsual } from '../../api/runs';
import type { Usual } from '../../api/types';
import { formatCount, formatDuration } from '../../lib/format';
import { useMonitor } from './store';

const NONE: ReadonlyMap<string, Usual> = new Map();

/** By node: how long it took in the last other runs of the workflow. Asked once for a page. */
export function useUsual(): ReadonlyMap<string, Usual> {
  const { ref } = useMonitor();
  const asked = useQuery({
    queryKey: [...keys.run(ref.ws, ref.run), 'usual'],
    queryFn: ({ signal }) => readUsual(ref, { signal }),
    staleTime: 300_000,
  });
  return useMemo(() => (asked.data ? new Map(asked.data.items.map((one) => [one.node, one])) : NONE), [asked.data]);
}

/** How much longer than usual, where that is worth a word: beyond what 19 of 20 took, and by more than half. */
export function slownessOf(took_ms: number, usual: Usual | undefined): number | null {
  if (!usual || usual.runs < 3 || usual.took_ms < 1) return null;
  const times = took_ms / usual.took_ms;
  return took_ms > usual.took_p95_ms && times >= 1.5 && took_ms - usual.took_ms >= 200 ? times : null;
}

export const usualSentence = (usual: Usual): string =>
  `usually ${formatDuration(usual.took_ms)} (${formatCount(usual.runs, 'run')})`;
