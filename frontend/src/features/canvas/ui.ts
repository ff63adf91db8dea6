import { createStore, type StoreApi } from 'zustand/vanilla';

import type { InsertRequest, Point } from '../../diagram';

export type DialogName = 'publish' | 'run' | 'shortcuts' | 'connect' | 'find' | 'replace';

/** Which step is asked for: the request, and where in the graph it would stand when it is not said otherwise. */
export interface PickerRequest extends InsertRequest {
  /** Instead of adding: this node becomes another kind. */
  replace?: string;
}

/** What is open on the page. Nothing of it is saved. */
export interface UiState {
  picker: PickerRequest | null;
  dialog: DialogName | null;
  menu: { at: Point; target: 'node' | 'edge' | 'pane' } | null;
  /** The step whose name is being typed on the canvas. */
  renaming: string | null;
  /** What a dragged step would be dropped on: an edge or a container. */
  dropTarget: string | null;
  showsProblems: boolean;
  showsMinimap: boolean;
  showsPalette: boolean;
  tab: string;
  /** Said to screen readers after a command. */
  said: string;
  set: (patch: Partial<Omit<UiState, 'set'>>) => void;
}

export type UiStore = StoreApi<UiState>;

export function createUiStore(): UiStore {
  return createStore<UiState>()((set) => ({
    picker: null,
    dialog: null,
    menu: null,
    renaming: null,
    dropTarget: null,
    showsProblems: false,
    showsMinimap: true,
    showsPalette: true,
    tab: 'settings',
    said: '',
    set: (patch) => set(patch),
  }));
}
