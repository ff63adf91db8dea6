import '@xyflow/react/dist/style.css';
import '../../../diagram/tokens.css';

import { ConnectionLineType, type NodeChange, ReactFlow, SelectionMode } from '@xyflow/react';
import { useCallback, useMemo, useState } from 'react';

import {
  createToFlow,
  type Description,
  DiagramContext,
  Dots,
  type DrawnNode,
  drawAll,
  edgeTypes,
  type FlowParts,
  flowClass,
  type GraphGroup,
  type GraphNote,
  type NoteFlowNode,
  nodeTypes,
  noteNode,
  OverviewMap,
  SmoothMoves,
} from '../../../diagram';
import { useDescriptions } from '../descriptions';
import { FIT } from '../fit';
import { type Flow, useCanvas, useHands, useUi } from '../hands';
import { useConnecting } from '../use-connecting';
import { useDrag } from '../use-drag';
import { useDropping } from '../use-dropping';
import { useSelecting } from '../use-selecting';
import { useSources } from '../use-sources';
import classes from './editor.module.css';
import { EmptyCanvas, LoneStep } from './empty-canvas';
import { Toolbar } from './toolbar';

const GRID: [number, number] = [4, 4];
const MIDDLE_BUTTON = [1];
const MORE_KEYS = ['Shift', 'Meta', 'Control'];

const NO_NOTES: readonly GraphNote[] = [];
const NO_GROUPS: readonly GraphGroup[] = [];

/** Notes as React Flow wants them; one keeps its identity until it changes. */
function useNotes(): NoteFlowNode[] {
  const notes = useCanvas((state) => state.document.notes ?? NO_NOTES);
  const selection = useCanvas((state) => state.selection);
  const [known] = useState(() => new WeakMap<GraphNote, NoteFlowNode>());
  return useMemo(
    () =>
      notes.map((note) => {
        const before = known.get(note);
        if (before?.selected === selection.has(note.id)) return before;
        const made = noteNode(note, selection.has(note.id));
        known.set(note, made);
        return made;
      }),
    [notes, selection, known],
  );
}

/** Everything that lies on the canvas, where the hand holds it now. */
function useDrawn(parts: FlowParts) {
  const drag = useDrag(parts.nodes, useNotes());
  const groups = useCanvas((state) => state.document.groups ?? NO_GROUPS);
  const selection = useCanvas((state) => state.selection);
  const { shown: nodes, shownNotes: notes } = drag;
  const { edges } = parts;
  const drawn = useMemo(
    () => drawAll({ nodes, edges, notes, groups, selection }),
    [nodes, edges, notes, groups, selection],
  );
  return { drag, drawn };
}

function useParts(): FlowParts {
  const { ws, workflowId, kinds } = useHands();
  const graph = useCanvas((state) => state.document);
  const selection = useCanvas((state) => state.selection);
  const descriptions: ReadonlyMap<string, Description> = useDescriptions(ws, workflowId, graph);
  const [toFlow] = useState(createToFlow);
  return toFlow(graph, { kinds, descriptions }, selection);
}

/** The graph under the hand. React Flow draws and drags; every change goes through the store. */
export function FlowCanvas({ label }: { label: string }) {
  const { flow, ui } = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  const showsMinimap = useUi((state) => state.showsMinimap);
  const parts = useParts();
  const sources = useSources();
  const { drag, drawn } = useDrawn(parts);
  const connecting = useConnecting();
  const selecting = useSelecting();
  const dropping = useDropping();
  const { onPositions } = drag;
  const { onChanges } = selecting;
  const onNodesChange = useCallback(
    (changes: NodeChange<DrawnNode>[]) => {
      onPositions(changes);
      onChanges(changes);
    },
    [onPositions, onChanges],
  );
  const onInit = useCallback(
    (instance: Flow) => {
      flow.current = instance;
    },
    [flow],
  );
  const onPaneClick = useCallback(
    (event: React.MouseEvent) => {
      ui.getState().set({ menu: null });
      if (event.detail === 2 && canEdit) ui.getState().set({ picker: { at: { x: event.clientX, y: event.clientY } } });
    },
    [ui, canEdit],
  );
  const onNodeDoubleClick = useCallback(
    (_: unknown, { id, type }: DrawnNode) =>
      canEdit && ui.getState().set(type === 'note' ? { writing: id } : { renaming: id }),
    [ui, canEdit],
  );
  return (
    <DiagramContext value={sources}>
      <div className={classes.canvas} {...dropping}>
        <ReactFlow
          className={flowClass}
          aria-label={label}
          nodes={drawn.nodes}
          edges={drawn.edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onInit={onInit}
          onNodesChange={onNodesChange}
          onEdgesChange={onChanges}
          onNodeDrag={drag.onDrag}
          onNodeDragStop={drag.onDrop}
          onConnect={connecting.onConnect}
          onConnectEnd={connecting.onConnectEnd}
          onReconnect={connecting.onReconnect}
          isValidConnection={connecting.isValid}
          onNodeClick={selecting.onNodeClick}
          onNodeContextMenu={selecting.onNodeMenu}
          onEdgeContextMenu={selecting.onEdgeMenu}
          onPaneContextMenu={selecting.onPaneMenu}
          onPaneClick={onPaneClick}
          onNodeDoubleClick={onNodeDoubleClick}
          nodesDraggable={canEdit}
          nodesConnectable={canEdit}
          edgesReconnectable={canEdit}
          connectOnClick={false}
          connectionLineType={ConnectionLineType.SmoothStep}
          connectionRadius={28}
          snapToGrid
          snapGrid={GRID}
          selectionOnDrag
          selectionMode={SelectionMode.Partial}
          selectionKeyCode={null}
          multiSelectionKeyCode={MORE_KEYS}
          panOnDrag={MIDDLE_BUTTON}
          panActivationKeyCode="Space"
          deleteKeyCode={null}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          onlyRenderVisibleElements
          minZoom={0.1}
          maxZoom={2}
          fitView
          fitViewOptions={FIT}
        >
          <SmoothMoves />
          <Dots />
          {showsMinimap && parts.nodes.length > 0 ? <OverviewMap /> : null}
          <Toolbar />
        </ReactFlow>
        {parts.nodes.length === 0 ? <EmptyCanvas /> : null}
        {parts.nodes.length === 1 && canEdit ? <LoneStep /> : null}
      </div>
    </DiagramContext>
  );
}
