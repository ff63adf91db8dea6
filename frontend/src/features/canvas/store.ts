import { createStore, type StoreApi } from 'zustand/vanilla';

import type { GraphDocument } from '../../diagram';
import type { Draft, Problem } from './api';
import { settleGroups } from './model/groups';
import { type History, type HistoryPolicy, NO_HISTORY, record, redo, type Travel, undo } from './model/history';
import { nextSaveState, type SaveEvent, type SaveState } from './model/saving';

const EDITED: SaveEvent = { type: 'edited' };
const STEP: HistoryPolicy = { kind: 'step' };
const NOTHING: ReadonlySet<string> = new Set();

export interface ApplyOptions {
  policy?: HistoryPolicy;
  /** What is selected afterwards; left out: what was selected and still is there. */
  select?: readonly string[];
}

/** The graph being edited: our document is the truth, React Flow only draws it. One store for each open workflow. */
export interface CanvasState {
  document: GraphDocument;
  selection: ReadonlySet<string>;
  history: History;
  problems: readonly Problem[];
  save: SaveState;
  canEdit: boolean;
  /** The only way to change the document. `label` is what undo would take back: 'Delete 2 steps'. */
  apply: (label: string, change: (document: GraphDocument) => GraphDocument, options?: ApplyOptions) => void;
  select: (ids: Iterable<string>) => void;
  undo: () => string | null;
  redo: () => string | null;
  saving: (event: SaveEvent) => void;
  setProblems: (problems: readonly Problem[]) => void;
}

export type CanvasStore = StoreApi<CanvasState>;

function stillThere(document: GraphDocument, ids: Iterable<string>): ReadonlySet<string> {
  const { nodes, edges, notes = [], groups = [] } = document;
  const known = new Set<string>([nodes, edges, notes, groups].flatMap((list) => list.map((thing) => thing.id)));
  const left = [...ids].filter((id) => known.has(id));
  return left.length === 0 ? NOTHING : new Set(left);
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((id) => b.has(id)));

export function createCanvasStore(draft: Draft, { canEdit }: { canEdit: boolean }): CanvasStore {
  return createStore<CanvasState>()((set, get) => {
    const travel = (step: typeof undo): string | null => {
      const { document, selection, history } = get();
      const made: Travel | null = step(history, { document, selection });
      if (!made) return null;
      const present = made.moment.document;
      set({
        save: nextSaveState(get().save, EDITED),
        document: present,
        selection: stillThere(present, made.moment.selection),
        history: made.history,
      });
      return made.label;
    };
    return {
      document: draft.graph,
      selection: NOTHING,
      history: NO_HISTORY,
      problems: draft.problems,
      save: { kind: 'saved', revision: draft.revision },
      canEdit,
      apply: (label, change, { policy = STEP, select } = {}) => {
        const { document, selection, history } = get();
        if (!get().canEdit) return;
        const changed = settleGroups(change(document));
        const next = stillThere(changed, select ?? selection);
        if (changed === document) {
          if (select && !sameSet(next, selection)) set({ selection: next });
          return;
        }
        const before = { document, selection };
        set({
          document: changed,
          selection: sameSet(next, selection) ? selection : next,
          history: record(history, { label, policy, before, now: Date.now() }),
          // In one step with the document: whoever hears of the change hears that it is unsaved.
          save: nextSaveState(get().save, EDITED),
        });
      },
      select: (ids) => {
        const { document, selection } = get();
        const next = stillThere(document, ids);
        if (!sameSet(next, selection)) set({ selection: next });
      },
      undo: () => travel(undo),
      redo: () => travel(redo),
      saving: (event) => {
        const { save } = get();
        const next = nextSaveState(save, event);
        if (next !== save) set({ save: next });
      },
      setProblems: (problems) => set({ problems }),
    };
  });
}

/** The one selected step, where exactly one is. */
export function selectedNodeId(state: CanvasState): string | null {
  const nodes = state.document.nodes.filter((node) => state.selection.has(node.id));
  return nodes.length === 1 ? (nodes[0]?.id ?? null) : null;
}
