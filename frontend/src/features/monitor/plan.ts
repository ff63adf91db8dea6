import { useMutation, useQuery } from '@tanstack/react-query';
import { createContext, useCallback, useContext, useMemo, useState } from 'react';

import { keys } from '../../api/query-keys';
import { newCommandId, previewResume, resumeRun } from '../../api/runs';
import type { ResumePreview } from '../../api/types';
import { notifyFailure } from '../../components/ui/notify';
import type { NodeMark } from '../../diagram';
import { readPath } from './paths';
import type { RunState } from './reducer';
import { useMonitor, useRunState } from './store';
import { failedPaths, hasFailedBranch, isResumable, progressOf } from './summary';

/** A resume that is being looked at before it is done. */
export interface Plan {
  /** Whether the plan is on the screen. */
  isOpen: boolean;
  preview: ResumePreview | null;
  error: unknown;
  isBusy: boolean;
  mayOpen: boolean;
  open: (paths?: string[]) => void;
  close: () => void;
  confirm: () => void;
}

export const PlanContext = createContext<Plan | null>(null);

export function usePlan(): Plan {
  const plan = useContext(PlanContext);
  if (!plan) throw new Error('usePlan is called outside the run page');
  return plan;
}

interface Opened {
  paths?: string[] | undefined;
  command: string;
}

/** The state of resuming one run. The preview of a run that may be resumed is asked at once: the head tells what it saves. */
export function useResumePlan(may: boolean): Plan {
  const { ref, refresh } = useMonitor();
  const generation = useRunState((state) => state.run.generation);
  const failures = useRunState(failedPaths);
  const resumable = useRunState((state) => isResumable(state.run) || hasFailedBranch(state));
  // While other branches go on, what a resume keeps grows.
  const done = useRunState((state) => (hasFailedBranch(state) ? progressOf(state).done : 0));
  const [opened, setOpened] = useState<Opened | null>(null);
  const preview = useQuery({
    queryKey: [...keys.run(ref.ws, ref.run), 'preview', opened?.paths ?? null, generation, failures, done],
    queryFn: () => previewResume(ref, opened?.paths),
    enabled: resumable,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const close = useCallback(() => setOpened(null), []);
  const resume = useMutation({
    // The command's id is made when the plan is opened: a second click sends the same command, not another one.
    mutationFn: ({ command, paths }: Opened) =>
      resumeRun(ref, {
        command_id: command,
        generation,
        plan: preview.data?.plan ?? null,
        ...(paths ? { paths } : {}),
      }),
    onSuccess: close,
    onError: (error) => notifyFailure('The run was not resumed', error),
    onSettled: () => refresh(),
  });
  const { mutate, isPending } = resume;
  const open = useCallback((paths?: string[]) => setOpened({ paths, command: newCommandId() }), []);
  const confirm = useCallback(() => {
    if (opened && !isPending) mutate(opened);
  }, [opened, isPending, mutate]);
  const data = preview.data ?? null;
  return useMemo(
    () => ({
      isOpen: opened !== null && resumable,
      preview: data,
      error: preview.error,
      isBusy: isPending,
      mayOpen: may && resumable,
      open,
      close,
      confirm,
    }),
    [opened, resumable, data, preview.error, isPending, may, open, close, confirm],
  );
}

const RANK: Readonly<Record<NodeMark, number>> = { kept: 0, again: 1, effect: 2 };

/** What the plan draws on each node: the riskiest of what holds for any of its step runs. */
export function marksOf(preview: ResumePreview, { graph }: Pick<RunState, 'graph'>): ReadonlyMap<string, NodeMark> {
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const marks = new Map<string, NodeMark>();
  const mark = (path: string, as: NodeMark) => {
    let node = byKey.get(readPath(path).key);
    while (node) {
      const before = marks.get(node.id);
      if (before === undefined || RANK[as] > RANK[before]) marks.set(node.id, as);
      const { parent } = node;
      // A container runs again where one of its items does; that its items are kept says nothing of itself.
      node = as === 'again' && parent !== null ? graph.nodes.find((one) => one.id === parent) : undefined;
    }
  };
  for (const path of preview.kept) mark(path, 'kept');
  for (const path of preview.again) mark(path, 'again');
  for (const { path, may_happen_twice } of preview.effects) if (may_happen_twice) mark(path, 'effect');
  for (const node of graph.nodes) {
    // What the plan says of a container holds for its body, where it says nothing of the items.
    const outer = node.parent === null ? undefined : marks.get(node.parent);
    if (outer !== undefined && !marks.has(node.id)) marks.set(node.id, outer === 'effect' ? 'again' : outer);
  }
  return marks;
}
