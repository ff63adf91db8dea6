/** Edits that the server does not have yet, kept in this browser so that a reload or a closed tab loses nothing. */
import type { GraphDocument } from '../../diagram';
import { formatJson, isObject, parseJson } from '../../lib/json';

export interface Kept {
  /** The revision that the edits began from. */
  revision: number;
  graph: GraphDocument;
}

const nameOf = (workflowId: string): string => `pawl.draft.${workflowId}`;

/** False where the browser refuses (full, or private): then the page must not claim to keep it. */
export function keep(workflowId: string, kept: Kept, storage: Storage = localStorage): boolean {
  try {
    storage.setItem(nameOf(workflowId), formatJson(kept));
    return true;
  } catch {
    return false;
  }
}

export function readKept(workflowId: string, storage: Storage = localStorage): Kept | null {
  try {
    const value = parseJson(storage.getItem(nameOf(workflowId)) ?? 'null');
    if (!isObject(value) || typeof value.revision !== 'number' || !isObject(value.graph)) return null;
    if (!Array.isArray(value.graph.nodes) || !Array.isArray(value.graph.edges)) return null;
    return value as unknown as Kept;
  } catch {
    return null;
  }
}

export function forget(workflowId: string, storage: Storage = localStorage): void {
  storage.removeItem(nameOf(workflowId));
}
