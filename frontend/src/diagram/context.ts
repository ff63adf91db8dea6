import { createContext, useContext } from 'react';

import type { NodeMark, NodeStatus, Point } from './types';

export type ProblemLevel = 'error' | 'warning';

/** Where an editor wants a new step: behind a port, in the middle of an edge, or inside a container. */
export interface InsertRequest {
  into?: string;
  edge?: string;
  from?: { node: string; port: string };
  at: Point;
}

/**
 * What a node asks by its own id. Live state comes through these hooks and never through node data: else every event of a
 * run would lay the whole graph out again.
 */
export interface DiagramSources {
  useStatus: (nodeId: string) => NodeStatus | undefined;
  useMark: (nodeId: string) => NodeMark | undefined;
  useProblem: (nodeId: string) => ProblemLevel | undefined;
  /** Whether a breakpoint stops a run before the node. */
  useBreakpoint: (nodeId: string) => boolean;
  /** An edge that shows where a dragged node would be spliced in. */
  useIsTarget: (edgeOrNodeId: string) => boolean;
  /** Set where the graph can be edited: asks for the step picker at a point of the screen. */
  onInsert?: ((request: InsertRequest) => void) | undefined;
}

export const nothing = (): undefined => undefined;
export const never = (): boolean => false;

export const DiagramContext = createContext<DiagramSources>({
  useStatus: nothing,
  useMark: nothing,
  useProblem: nothing,
  useBreakpoint: never,
  useIsTarget: never,
});

export const useDiagram = (): DiagramSources => useContext(DiagramContext);
