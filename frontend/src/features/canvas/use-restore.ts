import { notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { useSearchParams } from 'react-router';

import { sentenceOf } from '../../api/errors';
import type { Workflow } from '../../api/types';
import { type KindsByName, layOut, needsLayout } from '../../diagram';
import { readVersion } from './api';
import { sameJson } from './model/difference';
import type { CanvasStore } from './store';

interface Opened {
  ws: string;
  workflow: Workflow;
  kinds: KindsByName;
}

/** ?restore=3: version 3 comes into the draft as one edit, which Undo takes back and the next save keeps. */
export function useRestore(store: CanvasStore, { ws, workflow, kinds }: Opened): void {
  const [query, setQuery] = useSearchParams();
  const number = Number(query.get('restore'));
  const { id } = workflow;
  useEffect(() => {
    if (!Number.isInteger(number) || number < 1) return;
    const gone = new AbortController();
    readVersion(ws, id, number, { signal: gone.signal })
      .then(({ graph }) => {
        if (!graph || gone.signal.aborted) return;
        const told = restore(store, needsLayout(graph) ? layOut(graph, kinds) : graph, number);
        notifications.show({ color: 'green', title: `Version ${number}`, message: told });
      })
      .catch((error: unknown) => {
        if (gone.signal.aborted) return;
        notifications.show({ color: 'red', title: 'The draft stays as it is', message: sentenceOf(error) });
      })
      .finally(() => {
        if (!gone.signal.aborted) setQuery((now) => without(now, 'restore'), { replace: true });
      });
    return () => gone.abort();
  }, [store, ws, id, kinds, number, setQuery]);
}

function restore(store: CanvasStore, graph: Parameters<typeof layOut>[0], number: number): string {
  const { document: before, canEdit, apply } = store.getState();
  if (!canEdit) return 'Your role may look at the draft, and not change it.';
  if (sameJson(before, graph)) return 'The draft is the same already.';
  apply(`Restore version ${number}`, () => graph, { select: [] });
  return 'It is in the draft now, and not published. Undo takes it back.';
}

function without(query: URLSearchParams, name: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.delete(name);
  return next;
}
