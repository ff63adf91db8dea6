import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';

import { setBreakpoints } from '../../api/recovery';
import { newCommandId } from '../../api/runs';
import type { Breakpoint } from '../../api/types';
import { useMay } from '../../api/workspace';
import { notifyFailure } from '../../components/ui/notify';
import type { GraphNode, KindsByName } from '../../diagram';
import { readPath } from './paths';
import { useIsPast, useMonitor, useLiveRunState as useRunState } from './store';
import { useKinds } from './use-kinds';

const NONE: readonly Breakpoint[] = [];

type Named = Pick<GraphNode, 'id' | 'key'>;

const isOf = ({ id, key }: Named, point: Breakpoint): boolean =>
  point.node === id || (point.path !== undefined && readPath(point.path).key === key);

/** The nodes before which the run pauses, or before some step run of which it does. */
export function heldNodes(nodes: readonly Named[], points: readonly Breakpoint[]): ReadonlySet<string> {
  return new Set(nodes.filter((node) => points.some((point) => isOf(node, point))).map((node) => node.id));
}

/** The list with a breakpoint of that node where it had none, and without any of it where it had one. */
export function toggled(points: readonly Breakpoint[], node: Named): Breakpoint[] {
  const others = points.filter((point) => !isOf(node, point));
  return others.length < points.length ? others : [...others, { node: node.id }];
}

/** The list with a breakpoint of this step run alone, or without it; those of its node stay. */
export function toggledPath(points: readonly Breakpoint[], path: string): Breakpoint[] {
  const others = points.filter((point) => point.path !== path);
  return others.length < points.length ? others : [...others, { path }];
}

/** Why no breakpoint can stand before a node; null where one can. */
export function whyNoBreakpoint(node: GraphNode, status: string, kinds: KindsByName): string | null {
  if (kinds.get(node.kind)?.has_input === false) return 'The run begins with it: nothing can stop before it.';
  return status === 'succeeded' ? 'The run has succeeded: nothing of it starts any more.' : null;
}

export interface Breakpoints {
  nodes: ReadonlySet<string>;
  /** Step runs that have one of their own. */
  paths: ReadonlySet<string>;
  may: boolean;
  isBusy: boolean;
  why: (node: GraphNode) => string | null;
  toggle: (node: GraphNode) => void;
  togglePath: (path: string) => void;
}

export function useBreakpoints(): Breakpoints {
  const { ref, refresh, learnBreakpoints } = useMonitor();
  const isPast = useIsPast();
  const may = useMay('run') && !isPast;
  const kinds = useKinds().byName;
  const graph = useRunState((state) => state.graph);
  const status = useRunState((state) => state.run.status);
  const points = useRunState((state) => state.run.breakpoints ?? NONE);
  const set = useMutation({
    mutationFn: (breakpoints: Breakpoint[]) => setBreakpoints(ref, { command_id: newCommandId(), breakpoints }),
    onError: (error) => notifyFailure('The breakpoint was not changed', error),
    onSuccess: ({ breakpoints }) => learnBreakpoints(breakpoints),
    onSettled: () => void refresh(),
  });
  const nodes = useMemo(() => heldNodes(graph.nodes, points), [graph, points]);
  const paths = useMemo(() => new Set(points.flatMap((point) => point.path ?? [])), [points]);
  const why = (node: GraphNode) => whyNoBreakpoint(node, status, kinds);
  return {
    nodes,
    paths,
    may,
    isBusy: set.isPending,
    why,
    toggle: (node) => may && !set.isPending && why(node) === null && set.mutate(toggled(points, node)),
    togglePath: (path) => may && !set.isPending && set.mutate(toggledPath(points, path)),
  };
}
