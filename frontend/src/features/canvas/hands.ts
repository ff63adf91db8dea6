import type { ReactFlowInstance } from '@xyflow/react';
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';

import { type DrawnNode, isStepNode, type KindsByName, type Point, type Port, type StepFlowEdge } from '../../diagram';
import type { Autosave } from './autosave';
import type { CanvasState, CanvasStore } from './store';
import type { UiState, UiStore } from './ui';

export type Flow = ReactFlowInstance<DrawnNode, StepFlowEdge>;

/** Everything that a command needs to act: the stores, the library, the view, and ways out of the page. */
export interface Hands {
  ws: string;
  workflowId: string;
  store: CanvasStore;
  ui: UiStore;
  kinds: KindsByName;
  /** Null until the canvas is drawn. */
  flow: { current: Flow | null };
  /** Where the pointer was last seen over the canvas, in pixels of the screen. */
  pointer: { current: Point | null };
  canRun: boolean;
  autosave: Pick<Autosave, 'flush' | 'hurry'>;
  /** The system's clipboard, with one of our own where the browser refuses it. */
  clipboard: { write: (text: string) => Promise<void>; read: () => Promise<string> };
}

/** The ports that a step shows on the canvas; undefined before it is drawn. */
export function portsShown(hands: Hands, id: string): readonly Port[] | undefined {
  const node = hands.flow.current?.getNode(id);
  return node && isStepNode(node) ? node.data.ports : undefined;
}

export const HandsContext = createContext<Hands | null>(null);

export function useHands(): Hands {
  const hands = useContext(HandsContext);
  if (!hands) throw new Error('useHands is called outside the canvas');
  return hands;
}

export const useCanvas = <T>(select: (state: CanvasState) => T): T => useStore(useHands().store, select);
export const useUi = <T>(select: (state: UiState) => T): T => useStore(useHands().ui, select);
