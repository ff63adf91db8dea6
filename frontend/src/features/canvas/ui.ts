import { createStore, type StoreApi } from 'zustand/vanilla';

import type { InsertRequest, Point } from '../../diagram';

export type DialogName = 'publish' | 'run' | 'shortcuts' | 'connect' | 'find' | 'replace';

/** What a context menu was opened on. */
export type MenuTarget = 'node' | 'edge' | 'pane' | 'note' | 'group';

/** Which step is asked for: the request, and where in the graph it would stand when it is not said otherwise. */
export interface PickerRequest extends InsertRequest {
  /** Instead of adding: this node becomes another kind. */
  replace?: string;
}

/** What is open on the page. Nothing of it is saved. */
export interface UiState {
  picker: PickerRequest | null;
  dialog: DialogName | null;
  menu: { at: Point; target: MenuTarget } | null;
  /** The step or group whose name is being typed on the canvas. */
  renaming: string | null;
  /** The note whose text is being written. */
  writing: string | null;
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
    writing: null,
    dropTarget: null,
    showsProblems: false,
    showsMinimap: true,
    showsPalette: true,
    tab: 'settings',
    said: '',
    set: (patch) => set(patch),
  }));
}
