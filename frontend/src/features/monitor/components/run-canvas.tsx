import { useCallback, useMemo, useState } from 'react';

import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { GraphView, type Point } from '../../../diagram';
import { useBreakpoints } from '../breakpoints';
import { lastKnownNode, useFreshness } from '../freshness';
import { marksOf } from '../marks';
import { nodeStatus, stepOfNode } from '../node-status';
import { itemOf, readPath } from '../paths';
import { usePlan } from '../plan';
import { pulseWords, withPulse } from '../pulse';
import { useSelection } from '../selection';
import { shownOf, useMonitor, useMonitorState, useRunState } from '../store';
import { useKinds } from '../use-kinds';
import { type MenuAt, NodeMenu } from './node-menu';
import classes from './run-view.module.css';

/** A hook that each node calls with its own id: only the node whose step changed is drawn again. */
function useStatusHook(item: string | null) {
  const freshness = useFreshness();
  return useCallback(
    (nodeId: string) =>
      // biome-ignore lint/correctness/useHookAtTopLevel: this function is itself a hook, handed to the nodes
      useMonitorState((state) => {
        const run = shownOf(state);
        const node = run?.graph.nodes.find((one) => one.id === nodeId);
        const step = run && node ? stepOfNode(run, node, item) : undefined;
        if (!step) return undefined;
        const words = state.past || freshness.how === 'lost' ? null : pulseWords(step, state.pulses.get(step.path));
        return lastKnownNode(withPulse(nodeStatus(step), words), freshness);
      }),
    [item, freshness],
  );
}

/** The graph of the run with live states, or, while something is planned, with what the plan does. */
export function RunCanvas() {
  const kinds = useKinds();
  const graph = useRunState((state) => state.graph);
  const number = useRunState((state) => state.run.number);
  const { store } = useMonitor();
  const { step, selectStep } = useSelection();
  const plan = usePlan();
  const item = step === null ? null : itemOf(step);
  const useStatus = useStatusHook(item);
  const shown = plan.operation ? plan.preview : null;
  const marks = useMemo(() => (shown ? marksOf(shown, { graph }) : undefined), [shown, graph]);
  const selectedId = useMemo(() => {
    const key = step === null ? null : readPath(step).key;
    return graph.nodes.find((node) => node.key === key)?.id ?? null;
  }, [graph, step]);
  const breakpoints = useBreakpoints();
  const [menu, setMenu] = useState<MenuAt | null>(null);
  const pathOf = useCallback(
    (nodeId: string | null) => {
      const run = shownOf(store.getState());
      const node = run?.graph.nodes.find((one) => one.id === nodeId);
      return (run && node ? stepOfNode(run, node, item)?.path : undefined) ?? null;
    },
    [store, item],
  );
  const select = useCallback((nodeId: string | null) => selectStep(pathOf(nodeId)), [selectStep, pathOf]);
  const openMenu = useCallback((node: string, at: Point) => setMenu({ node, at, path: pathOf(node) }), [pathOf]);
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
        breakpoints={breakpoints.nodes}
        onSelect={select}
        onMenu={openMenu}
        centreOnSelect
        label={`Graph of run ${number}`}
      />
      {menu ? <NodeMenu key={menu.node} menu={menu} breakpoints={breakpoints} onClose={() => setMenu(null)} /> : null}
    </div>
  );
}
