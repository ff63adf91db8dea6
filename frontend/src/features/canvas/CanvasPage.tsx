import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useParams } from 'react-router';

import { keys } from '../../api/query-keys';
import { useMay, useWorkspace } from '../../api/workspace';
import { listKinds } from '../../api/workspace-calls';
import { useCrumbs } from '../../components/ui/crumbs';
import { useTitle } from '../../components/ui/page';
import { ErrorState, LoadingRows } from '../../components/ui/states';
import { layOut, needsLayout } from '../../diagram';
import { type Draft, readDraft, readWorkflow } from './api';
import { Editor } from './components/editor';
import { forget, readKept } from './kept';
import { createCanvasStore } from './store';
import { useRestore } from './use-restore';

/** A workflow's canvas: loads the draft once; from then on the store holds the truth, and saves it. */
export function CanvasPage() {
  const ws = useWorkspace();
  const { id = '' } = useParams();
  const workflow = useQuery({
    queryKey: keys.workflow(ws, id),
    queryFn: ({ signal }) => readWorkflow(ws, id, { signal }),
  });
  const kinds = useQuery({
    queryKey: keys.kinds(ws),
    queryFn: ({ signal }) => listKinds(ws, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const draft = useQuery({
    queryKey: keys.draft(ws, id),
    queryFn: ({ signal }) => readDraft(ws, id, { signal }),
    // Read anew at each opening, and never behind the back of an open editor.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const name = workflow.data?.name ?? 'Workflow';
  useTitle(name);
  useCrumbs({ label: name });
  const byName = useMemo(() => new Map(kinds.data?.items.map((kind) => [kind.kind, kind])), [kinds.data]);
  for (const query of [workflow, kinds, draft]) {
    if (query.isError) return <ErrorState error={query.error} what="this workflow" onRetry={query.refetch} />;
  }
  if (!workflow.data || !kinds.data || !draft.data) return <LoadingRows label="Loading the workflow" />;
  return <Opened key={id} ws={ws} workflow={workflow.data} kinds={byName} draft={draft.data} />;
}

type OpenedProps = Omit<React.ComponentProps<typeof Editor>, 'store'> & { draft: Draft };

function Opened({ draft: given, ...props }: OpenedProps) {
  const canEdit = useMay('edit');
  const { kinds, workflow } = props;
  const [draft] = useState(given); // later answers of the query are the store's own saves
  const [store] = useState(() => {
    const graph = needsLayout(draft.graph) ? layOut(draft.graph, kinds) : draft.graph;
    return createCanvasStore({ ...draft, graph }, { canEdit });
  });
  useEffect(() => {
    if (canEdit) restoreKept(store, workflow.id, draft);
  }, [store, workflow.id, draft, canEdit]);
  useRestore(store, props);
  return <Editor {...props} store={store} />;
}

/** Edits from before a reload come back as one undoable change; where the draft went on without them, the person chooses. */
function restoreKept(store: ReturnType<typeof createCanvasStore>, workflowId: string, draft: Draft): void {
  const kept = readKept(workflowId);
  if (!kept) return;
  forget(workflowId);
  store.getState().apply('Bring back unsaved edits', () => kept.graph);
  if (kept.revision !== draft.revision) store.getState().saving({ type: 'conflict', theirs: draft });
}
