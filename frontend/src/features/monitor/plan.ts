import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { useNavigate } from 'react-router';

import { ApiError } from '../../api/errors';
import { keys } from '../../api/query-keys';
import { type Operation, performOperation, previewOperation } from '../../api/recovery';
import { newCommandId } from '../../api/runs';
import type { ResumePreview } from '../../api/types';
import { notifyFailure } from '../../components/ui/notify';
import { formatJson } from '../../lib/json';
import { paths } from '../../lib/paths';
import { changesBetween, notDone } from './plan-words';
import { useMonitor, useLiveRunState as useRunState } from './store';
import { failedPaths, hasFailedBranch, isResumable, progressOf } from './summary';

/** A value that a person writes before there is a plan: which, and of which step. */
export interface Draft {
  kind: 'edit_input' | 'supply_output';
  path: string;
}

/** An operation that is being looked at before it is done. */
export interface Plan {
  /** What is on the screen; null where no plan is. */
  operation: Operation | null;
  /** Of the operation that is on the screen, else of the resume that would be possible. */
  preview: ResumePreview | null;
  error: unknown;
  /** What changed since this person first saw the plan. */
  changed: string | null;
  isBusy: boolean;
  /** Whether the run may be resumed, by this person. */
  mayOpen: boolean;
  open: (operation: Operation) => void;
  close: () => void;
  confirm: () => void;
  draft: Draft | null;
  setDraft: (draft: Draft | null) => void;
}

export const PlanContext = createContext<Plan | null>(null);

export function usePlan(): Plan {
  const plan = useContext(PlanContext);
  if (!plan) throw new Error('usePlan is called outside the run page');
  return plan;
}

const RESUME: Operation = { kind: 'resume' };
const CHANGED = new Set(['generation_changed', 'plan_changed']);

/** What of the run a plan is made of, as far as the page knows it: another text, another plan. */
function useGround(operation: Operation): string {
  const generation = useRunState((state) => state.run.generation);
  const failures = useRunState(failedPaths);
  const path = 'path' in operation ? operation.path : null;
  const step = useRunState((state) => {
    const found = path === null ? undefined : state.steps.get(path);
    return found ? `${found.status}:${found.attempt}` : '';
  });
  // While other branches go on, what a plan keeps grows.
  const done = useRunState((state) => (path !== null || hasFailedBranch(state) ? progressOf(state).done : 0));
  return `${generation}:${failures}:${step}:${done}`;
}

function usePreview(operation: Operation, isWanted: boolean) {
  const { ref } = useMonitor();
  const ground = useGround(operation);
  const told = formatJson(operation); // a text: a key may hold no integer beyond 2^53
  return useQuery({
    queryKey: [...keys.run(ref.ws, ref.run), 'preview', told, ground],
    queryFn: () => previewOperation(ref, operation),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    placeholderData: (previous, query) => (query?.queryKey[6] === told ? previous : undefined),
  });
}

interface Opened {
  operation: Operation;
  /** Made when the plan is opened: a second click sends the same command, not another one. */
  command: string;
}

/** Does what the plan says, or nothing, where the run has gone on meanwhile. */
function usePerform(close: () => void) {
  const { ref, refresh } = useMonitor();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [refused, setRefused] = useState<string | null>(null);
  const act = useMutation({
    mutationFn: ({ operation, command, preview }: Opened & { preview: ResumePreview }) =>
      performOperation(ref, operation, { command_id: command, generation: preview.generation, plan: preview.plan }),
    onSuccess: ({ run }) => {
      close();
      void client.invalidateQueries({ queryKey: keys.runs(ref.ws) });
      if (run) void navigate(paths.run(ref.ws, run.id));
    },
    onError: (error, { operation, command }) => {
      notifyFailure(notDone(operation), error);
      if (error instanceof ApiError && CHANGED.has(error.code)) setRefused(command);
    },
    onSettled: async () => {
      await refresh();
      await client.invalidateQueries({ queryKey: [...keys.run(ref.ws, ref.run), 'preview'] });
    },
  });
  return { refused, perform: act.mutate, isBusy: act.isPending };
}

/** What is different from the plan that was seen first: live, or because the act was refused. */
function useChanges(
  opened: Opened | null,
  { preview, refused }: { preview: ResumePreview | null; refused: string | null },
) {
  const graph = useRunState((state) => state.graph);
  const first = useRef<{ command: string; preview: ResumePreview } | null>(null);
  if (opened && preview && first.current?.command !== opened.command) {
    first.current = { command: opened.command, preview };
  }
  const before = first.current?.preview;
  if (!opened || !preview || !before) return null;
  const isRefused = refused === opened.command;
  const isSame = before.plan === preview.plan && before.generation === preview.generation;
  return isSame && !isRefused ? null : changesBetween(before, preview, { graph, isRefused });
}

/** The state of what is planned for one run. The preview of a resume is asked at once: the head tells what it saves. */
export function usePlanState(may: boolean): Plan {
  const resumable = useRunState((state) => isResumable(state.run) || hasFailedBranch(state));
  const [opened, setOpened] = useState<Opened | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const isOpen = may && opened !== null && (opened.operation.kind !== 'resume' || resumable);
  const operation = opened?.operation ?? RESUME;
  const asked = usePreview(isOpen ? operation : RESUME, isOpen || resumable);
  const finish = useCallback(() => {
    setOpened(null);
    setDraft(null);
  }, []);
  const { refused, perform, isBusy } = usePerform(finish);
  const open = useCallback((wanted: Operation) => setOpened({ operation: wanted, command: newCommandId() }), []);
  const close = useCallback(() => setOpened(null), []);
  const preview = asked.data ?? null;
  const isFresh = !asked.isPlaceholderData && !asked.isFetching;
  const latest = useRef<() => void>(() => undefined);
  latest.current = () => {
    if (isOpen && opened && preview?.allowed && isFresh && !isBusy) perform({ ...opened, preview });
  };
  const confirm = useCallback(() => latest.current(), []);
  const changed = useChanges(isOpen ? opened : null, { preview: isFresh && !isBusy ? preview : null, refused });
  const shown = isOpen ? operation : null;
  return useMemo(
    () => ({
      operation: shown,
      preview,
      error: asked.error,
      changed,
      isBusy: isBusy || (isOpen && asked.isFetching),
      mayOpen: may && resumable,
      open,
      close,
      confirm,
      draft,
      setDraft,
    }),
    [
      shown,
      preview,
      asked.error,
      asked.isFetching,
      changed,
      isBusy,
      isOpen,
      may,
      resumable,
      open,
      close,
      confirm,
      draft,
    ],
  );
}
