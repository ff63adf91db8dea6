import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';

import { keys } from '../../../api/query-keys';
import { listKinds } from '../../../api/workspace-calls';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { GraphView, type KindsByName } from '../../../diagram';
import { nodeStatus, stepOfNode } from '../node-status';
import { itemOf, readPath } from '../paths';
import { marksOf, usePlan } from '../plan';
import { useSelection } from '../selection';
import { useMonitor, useMonitorState, useRunState } from '../store';
import classes from './run-view.module.css';

function useKinds() {
  const { ref } = useMonitor();
  const kinds = useQuery({
    queryKey: keys.kinds(ref.ws),
    queryFn: ({ signal }) => listKinds(ref.ws, { signal }),
    staleTime: 600_000,
  });
  const byName = useMemo<KindsByName>(
    () => new Map((kinds.data?.items ?? []).map((kind) => [kind.kind, kind])),
    [kinds.data],
  );
  return { byName, isPending: kinds.isPending, error: kinds.error, retry: kinds.refetch };
}

/** A hook that each node calls with its own id: only the node whose step changed is drawn again. */
function useStatusHook(item: string | null) {
  return useCallback(
    (nodeId: string) =>
      // biome-ignore lint/correctness/useHookAtTopLevel: this function is itself a hook, handed to the nodes
      useMonitorState(({ run }) => {
        const node = run?.graph.nodes.find((one) => one.id === nodeId);
        const step = run && node ? stepOfNode(run, node, item) : undefined;
        return step ? nodeStatus(step) : undefined;
      }),
    [item],
  );
}

/** The graph of the run with live states, or, while a resume is planned, with what the plan does. */
export function RunCanvas() {
  const kinds = useKinds();
  const graph = useRunState((state) => state.graph);
  const number = useRunState((state) => state.run.number);
  const { store } = useMonitor();
  const { step, selectStep } = useSelection();
  const plan = usePlan();
  const item = step === null ? null : itemOf(step);
  const useStatus = useStatusHook(item);
  const shown = plan.isOpen ? plan.preview : null;
  const marks = useMemo(() => (shown ? marksOf(shown, { graph }) : undefined), [shown, graph]);
  const selectedId = useMemo(() => {
    const key = step === null ? null : readPath(step).key;
    return graph.nodes.find((node) => node.key === key)?.id ?? null;
  }, [graph, step]);
  const select = useCallback(
    (nodeId: string | null) => {
      const { run } = store.getState();
      const node = run?.graph.nodes.find((one) => one.id === nodeId);
      const chosen = run && node ? stepOfNode(run, node, item) : undefined;
      selectStep(chosen?.path ?? null);
    },
    [store, selectStep, item],
  );
  if (kinds.error) return <ErrorState error={kinds.error} what="the step library" onRetry={kinds.retry} />;
  if (kinds.isPending) return <LoadingRows />;
  return (
    <div className={classes.canvas}>
      <GraphView
        key={shown ? 'plan' : 'live'} // a plan is looked at as a whole: it is fitted into the view anew
        graph={graph}
        kinds={kinds.byName}
        useStatus={useStatus}
        marks={marks}
        selectedId={selectedId}
        onSelect={select}
        centreOnSelect
        label={`Graph of run ${number}`}
      />
    </div>
  );
}
