import { createContext, useContext } from 'react';

import type { Mark, NodeStatus, NoteColour, Point } from './types';

/** An error keeps a draft from being published, a warning is told, a hint is an idea. */
export type ProblemLevel = 'error' | 'warning' | 'hint';

/** Where an editor wants a new step: behind a port, in the middle of an edge, or inside a container. */
export interface InsertRequest {
  into?: string;
  edge?: string;
  from?: { node: string; port: string };
  at: Point;
}

/** What hands do to notes and groups. */
export interface MarginHands {
  /** The text as it is when the writing ends. */
  onText: (noteId: string, text: string) => void;
  onColour: (noteId: string, colour: NoteColour) => void;
  onFold: (groupId: string, collapsed: boolean) => void;
}

/**
 * What a node asks by its own id. Live state comes through these hooks and never through node data: else every event of a
 * run would lay the whole graph out again.
 */
export interface DiagramSources {
  useStatus: (nodeId: string) => NodeStatus | undefined;
  /** Of a node, and of an edge that differs between two versions. */
  useMark: (id: string) => Mark | undefined;
  useProblem: (nodeId: string) => ProblemLevel | undefined;
  /** Whether a breakpoint stops a run before the node. */
  useBreakpoint: (nodeId: string) => boolean;
  /** An edge that shows where a dragged node would be spliced in. */
  useIsTarget: (edgeOrNodeId: string) => boolean;
  /** Set where the graph can be edited: asks for the step picker at a point of the screen. */
  onInsert?: ((request: InsertRequest) => void) | undefined;
  /** Whether a note's text is being written. */
  useIsEdited?: ((noteId: string) => boolean) | undefined;
  /** Set where notes and groups can be changed. */
  margin?: MarginHands | undefined;
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
