import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

import { keys } from '../../api/query-keys';
import { readPulse } from '../../api/runs';
import type { Pulse } from '../../api/types';
import type { NodeStatus } from '../../diagram';
import { formatDuration } from '../../lib/format';
import type { LiveStep } from './reducer';
import { useLiveRunState, useMonitor } from './store';

export const PULSE_EVERY_MS = 2000;
/** A worker tells once a second that it is there. Not heard for so long, it may be gone. */
const SILENT_S = 5;

export type Pulses = ReadonlyMap<string, Pulse>;
export const NO_PULSE: Pulses = new Map();

const STOPPED = new Set(['failed', 'retry_wait', 'needs_decision', 'cancelled']);

/** Asks while something runs, and once whenever a step stopped; hands it to the nodes. Once on a page. */
export function usePulseFeed(): void {
  const { ref, store } = useMonitor();
  const isRunning = useLiveRunState((state) => [...state.steps.values()].some((one) => one.status === 'running'));
  const stopped = useLiveRunState((state) =>
    [...state.steps.values()]
      .filter((one) => STOPPED.has(one.status))
      .map((one) => `${one.path}:${one.attempt}`)
      .join(','),
  );
  const asked = useQuery({
    queryKey: [...keys.run(ref.ws, ref.run), 'pulse', stopped],
    queryFn: ({ signal }) => readPulse(ref, { signal }),
    enabled: isRunning || stopped !== '',
    refetchInterval: isRunning ? PULSE_EVERY_MS : false,
    placeholderData: (previous) => previous,
  });
  const pulses = useMemo<Pulses>(
    () => (asked.data ? new Map(asked.data.items.map((one) => [one.path, one])) : NO_PULSE),
    [asked.data],
  );
  useEffect(() => store.setState({ pulses }), [store, pulses]);
}

/** heard 1 s ago; silent for 12 s. */
export function heardWords(heard_s: number): string {
  return heard_s > SILENT_S
    ? `silent for ${formatDuration(heard_s * 1000)}`
    : `heard ${Math.max(1, Math.round(heard_s))} s ago`;
}

const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

/** 640 of 1,000. */
export function progressWords({ done, total }: Pick<NonNullable<Pulse['progress']>, 'done' | 'total'>): string {
  return total === null ? `${count(done)} so far` : `${count(done)} of ${count(total)}`;
}

/** What the pulse adds to the words of a step: how far it got, and, while it runs, when its worker was heard. */
export function pulseWords(step: Pick<LiveStep, 'status' | 'attempt'>, pulse: Pulse | undefined): string | null {
  if (!pulse) return null;
  const { heard_s, progress } = pulse;
  if (step.status === 'running') {
    if (heard_s !== null && heard_s > SILENT_S) return heardWords(heard_s);
    if (progress && progress.attempt === step.attempt) return progressWords(progress);
    return heard_s === null ? null : heardWords(heard_s);
  }
  if (!progress || !STOPPED.has(step.status)) return null;
  return `${step.status === 'cancelled' ? 'stopped' : 'died'} at ${progressWords(progress)}`;
}

const made = new WeakMap<NodeStatus, NodeStatus>();

/** A node's status with those words, in place of its own few: there is room for one. The same words give the same object, so that nothing is drawn again for nothing. */
export function withPulse(status: NodeStatus, words: string | null): NodeStatus {
  if (words === null) return status;
  const known = made.get(status);
  if (known?.detail === words) return known;
  const next = { ...status, detail: words };
  made.set(status, next);
  return next;
}
