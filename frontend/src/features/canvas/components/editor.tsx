import { ReactFlowProvider } from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';

import type { Workflow } from '../../../api/types';
import { useMay } from '../../../api/workspace';
import type { KindsByName, Point } from '../../../diagram';
import { readDraft, saveDraft } from '../api';
import { Autosave } from '../autosave';
import { createClipboard } from '../clipboard';
import { type Flow, type Hands, HandsContext, useUi } from '../hands';
import type { CanvasStore } from '../store';
import { createUiStore } from '../ui';
import { useKeyboard } from '../use-keyboard';
import { Dialogs } from './dialogs';
import classes from './editor.module.css';
import { FlowCanvas } from './flow-canvas';
import { Header } from './header';
import { Palette } from './palette';
import { ProblemsList } from './problems-list';
import { SidePanel } from './side-panel';

interface Props {
  ws: string;
  workflow: Workflow;
  kinds: KindsByName;
  store: CanvasStore;
}

function useAutosave({ ws, workflow, store }: Props): Autosave {
  const autosave = useMemo(
    () =>
      new Autosave({
        store,
        workflowId: workflow.id,
        save: (body) => saveDraft(ws, workflow.id, body),
        read: () => readDraft(ws, workflow.id),
      }),
    [ws, workflow.id, store],
  );
  useEffect(() => {
    const hurry = () => autosave.hurry();
    const flush = () => {
      if (document.visibilityState === 'hidden') void autosave.flush();
    };
    window.addEventListener('online', hurry);
    document.addEventListener('visibilitychange', flush);
    return () => {
      window.removeEventListener('online', hurry);
      document.removeEventListener('visibilitychange', flush);
      void autosave.flush().finally(() => autosave.stop());
    };
  }, [autosave]);
  return autosave;
}

/** The editor's frame: header, library, canvas, panel; and what all of them hold in their hands. */
export function Editor(props: Props) {
  const { ws, workflow, kinds, store } = props;
  const autosave = useAutosave(props);
  const [ui] = useState(createUiStore);
  const flow = useRef<Flow | null>(null);
  const pointer = useRef<Point | null>(null);
  const canRun = useMay('run');
  const hands = useMemo<Hands>(
    () => ({
      ws,
      workflowId: workflow.id,
      store,
      ui,
      kinds,
      flow,
      pointer,
      canRun,
      autosave,
      clipboard: createClipboard(),
    }),
    [ws, workflow.id, store, ui, kinds, canRun, autosave],
  );
  return (
    <HandsContext value={hands}>
      <ReactFlowProvider>
        <Frame workflow={workflow} />
      </ReactFlowProvider>
    </HandsContext>
  );
}

function Frame({ workflow }: { workflow: Workflow }) {
  useKeyboard();
  const showsPalette = useUi((ui) => ui.showsPalette);
  const showsProblems = useUi((ui) => ui.showsProblems);
  return (
    <div className={classes.frame} data-palette={showsPalette}>
      <Header workflow={workflow} />
      {showsPalette ? <Palette /> : null}
      <div className={classes.middle}>
        <FlowCanvas label={`Canvas of ${workflow.name}`} />
        {showsProblems ? <ProblemsList /> : null}
      </div>
      <SidePanel />
      <Dialogs workflow={workflow} />
      <Said />
    </div>
  );
}

/** Tells a screen reader what a command did. */
function Said() {
  const said = useUi((ui) => ui.said);
  return (
    <output className="visually-hidden" aria-live="polite">
      {said}
    </output>
  );
}
