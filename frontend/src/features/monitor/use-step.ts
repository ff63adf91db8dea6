import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { keys } from '../../api/query-keys';
import { readLogs, readStep } from '../../api/runs';
import type { LogChunk } from '../../api/types';
import { useMonitor, useLiveRunState as useRunState } from './store';

/** Input, output, attempts, checkpoints and waits of a step run; asked again when its live state moves. */
export function useStepDetail(path: string) {
  const { ref } = useMonitor();
  const step = useRunState((state) => state.steps.get(path));
  const version = step ? `${step.status}:${step.attempt}:${step.fence}:${step.finished_at}` : 'unknown';
  return useQuery({
    queryKey: [...keys.step(ref.ws, ref.run, path), version],
    queryFn: ({ signal }) => readStep(ref, path, { signal }),
    placeholderData: (previous) => (previous?.step.path === path ? previous : undefined),
    refetchInterval: step?.status === 'running' ? 2000 : false,
    staleTime: 2000,
  });
}

export interface Logs {
  text: string;
  times: LogChunk['times'];
  isComplete: boolean;
  error: unknown;
}

const NOTHING: Logs = { text: '', times: [], isComplete: false, error: null };
const ASK_AGAIN_MS = 1000;

/** At once while there is more, a second later while it may still grow, never once all is read. */
function askAgainIn({ text, complete }: LogChunk): number | null {
  if (text.length > 0) return 0;
  return complete ? null : ASK_AGAIN_MS;
}

/** The log of one attempt, which grows while the attempt runs. */
export function useLogs(path: string, attempt: number): Logs {
  const { ref } = useMonitor();
  const { ws, run } = ref;
  const [logs, setLogs] = useState<Logs>(NOTHING);
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let text = '';
    let times: LogChunk['times'] = [];
    const ask = async (after: number): Promise<void> => {
      try {
        const chunk = await readLogs({ ws, run }, path, { attempt, after, signal: gone.signal });
        text += chunk.text;
        times = times.concat(chunk.times);
        setLogs({ text, times, isComplete: chunk.complete, error: null });
        const delay = askAgainIn(chunk);
        if (delay !== null) timer = setTimeout(() => void ask(chunk.next_offset), delay);
      } catch (error) {
        if (gone.signal.aborted) return;
        setLogs({ text, times, isComplete: false, error });
        timer = setTimeout(() => void ask(after), 4 * ASK_AGAIN_MS);
      }
    };
    setLogs(NOTHING);
    void ask(0);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [ws, run, path, attempt]);
  return logs;
}
