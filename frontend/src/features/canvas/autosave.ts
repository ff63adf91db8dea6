import { ApiError, sentenceOf } from '../../api/errors';
import type { GraphDocument } from '../../diagram';
import { isObject } from '../../lib/json';
import type { Draft } from './api';
import { forget, type Kept, keep } from './kept';
import { saveDelay, type Theirs } from './model/saving';
import type { CanvasStore } from './store';

export interface AutosaveParts {
  store: CanvasStore;
  workflowId: string;
  save: (body: { revision: number; graph: GraphDocument }) => Promise<Draft>;
  /** Reads the present draft, where a 409 did not bring it along. */
  read: () => Promise<Draft>;
  storage?: Storage;
}

function theirsOf(error: ApiError): Theirs | null {
  const data = isObject(error.data.draft) ? error.data.draft : error.data;
  const { graph, revision } = data as Partial<Draft>;
  if (!isObject(graph) || typeof revision !== 'number') return null;
  return data as unknown as Theirs;
}

/**
 * Saves the store's document whenever it differs from the server's: one request at a time, each naming the revision that it
 * began from, so that another tab's work is never overwritten unseen. Call `stop` when the page goes away.
 */
export class Autosave {
  #parts: AutosaveParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: () => void;
  #flying: Promise<void> | null = null;

  constructor(parts: AutosaveParts) {
    this.#parts = parts;
    this.#unsubscribe = parts.store.subscribe((now, before) => {
      if (now.document !== before.document && now.save.kind !== 'saved') this.#keep();
      if (now.save.kind === 'saved' && before.save.kind !== 'saved') forget(parts.workflowId, parts.storage);
      if (now.save !== before.save || now.document !== before.document) this.#plan();
    });
    this.#plan();
  }

  /** Saves what is unsaved now. False where it could not: offline, refused, or a conflict to be decided first. */
  async flush(): Promise<boolean> {
    clearTimeout(this.#timer);
    await this.#flying;
    const { save } = this.#parts.store.getState();
    if (save.kind === 'waiting' || save.kind === 'offline') await this.#go();
    const after = this.#parts.store.getState().save.kind;
    return after === 'saved' || (after === 'waiting' && (await this.flush()));
  }

  /** The connection came back: does not wait for the next try. */
  hurry(): void {
    if (this.#parts.store.getState().save.kind === 'offline') void this.#go();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    const delay = saveDelay(this.#parts.store.getState().save);
    if (delay !== null) this.#timer = setTimeout(() => void this.#go(), delay);
  }

  #keep(): void {
    const { document, save } = this.#parts.store.getState();
    const kept: Kept = { revision: save.revision, graph: document };
    keep(this.#parts.workflowId, kept, this.#parts.storage);
  }

  async #go(): Promise<void> {
    if (this.#flying) return this.#flying;
    this.#flying = this.#save().finally(() => {
      this.#flying = null;
    });
    return this.#flying;
  }

  async #save(): Promise<void> {
    const { store, save } = this.#parts;
    const { document: graph, save: before } = store.getState();
    store.getState().saving({ type: 'began' });
    try {
      const draft = await save({ revision: before.revision, graph });
      store.getState().saving({ type: 'saved', revision: draft.revision });
      store.getState().setProblems(draft.problems);
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #failed(error: unknown): Promise<void> {
    const { saving } = this.#parts.store.getState();
    if (error instanceof ApiError && error.code === 'draft_conflict') {
      const theirs = theirsOf(error) ?? (await this.#parts.read().catch(() => null));
      saving(theirs ? { type: 'conflict', theirs } : { type: 'unreachable' });
    } else if (error instanceof ApiError && !error.isOffline && error.status < 500) {
      saving({ type: 'refused', reason: sentenceOf(error) });
    } else {
      saving({ type: 'unreachable' });
    }
  }
}
