import '@xyflow/react/dist/style.css';
import './tokens.css';

import { Controls, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { DiagramContext, type DiagramSources, never, nothing } from './context';
import classes from './diagram.module.css';
import { Dots } from './dots';
import { edgeTypes, nodeTypes } from './flow-types';
import { layOut, needsLayout } from './layout';
import { type DrawnNode, drawAll, isStepNode, noteNode } from './margin';
import { OverviewMap } from './overview-map';
import { Refit } from './refit';
import { SmoothMoves } from './smooth-moves';
import { createToFlow, type Description, type FlowParts } from './to-flow';
import type { GraphDocument, KindsByName, Mark, NodeStatus, Point } from './types';

export interface GraphViewProps {
  graph: GraphDocument;
  kinds: KindsByName;
  /** A hook, called by each node with its own id (a store selector). Must be the same function at every render. */
  useStatus?: ((nodeId: string) => NodeStatus | undefined) | undefined;
  marks?: ReadonlyMap<string, Mark> | undefined;
  /** The nodes before which breakpoints stop a run. */
  breakpoints?: ReadonlySet<string> | undefined;
  /** What POST /describe said of nodes, where it was asked; else the kind's own words stand. */
  descriptions?: ReadonlyMap<string, Description> | undefined;
  selectedId?: string | null | undefined;
  onSelect?: ((nodeId: string | null) => void) | undefined;
  /** The context menu of a node, at a point of the screen. */
  onMenu?: ((nodeId: string, at: Point) => void) | undefined;
  /** Double click or Enter. */
  onOpen?: ((nodeId: string) => void) | undefined;
  /** Moves the view to the selected node when the selection comes from elsewhere (a log line, a timeline row). */
  centreOnSelect?: boolean | undefined;
  minimap?: boolean | undefined;
  /** What a screen reader hears: 'Graph of run 1042'. */
  label?: string | undefined;
}

const FIT = { padding: 0.12, maxZoom: 1 } as const;

/** A graph to look at: no node moves, nothing connects. The canvas feature has the one to edit. */
export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <View {...props} />
    </ReactFlowProvider>
  );
}

const View = memo(function View({
  graph,
  kinds,
  descriptions,
  selectedId = null,
  minimap = false,
  label = 'Graph',
  ...rest
}: GraphViewProps) {
  const placed = useMemo(() => (needsLayout(graph) ? layOut(graph, kinds) : graph), [graph, kinds]);
  const [toFlow] = useState(createToFlow);
  const selected = useMemo(() => new Set(selectedId === null ? [] : [selectedId]), [selectedId]);
  const parts = useMemo(
    () => toFlow(placed, { kinds, descriptions }, selected),
    [toFlow, placed, kinds, descriptions, selected],
  );
  const drawn = useMemo(() => drawShown(placed, parts), [placed, parts]);
  const sources = useSources(rest);
  useCentre(rest.centreOnSelect ? selectedId : null);
  const { onSelect, onOpen, onMenu } = rest;
  const pick = useCallback(
    (_: unknown, node: DrawnNode) => (isStepNode(node) ? onSelect?.(node.id) : undefined),
    [onSelect],
  );
  const open = useCallback(
    (_: unknown, node: DrawnNode) => (isStepNode(node) ? onOpen?.(node.id) : undefined),
    [onOpen],
  );
  const menu = useCallback(
    (event: React.MouseEvent, node: DrawnNode) => {
      if (!onMenu || !isStepNode(node)) return;
      event.preventDefault();
      onMenu(node.id, { x: event.clientX, y: event.clientY });
    },
    [onMenu],
  );
  const onKeyDown = useCallback(
    (event: React.KeyboardEvent) => {
      const id = event.target instanceof HTMLElement ? event.target.closest(STEPS)?.getAttribute('data-id') : null;
      if (!id || (event.key !== 'Enter' && event.key !== ' ')) return;
      event.preventDefault();
      event.stopPropagation(); // the page's own Enter means something else
      onSelect?.(id);
    },
    [onSelect],
  );
  const clear = useCallback(() => onSelect?.(null), [onSelect]);
  const isMoved = useRef(false);
  return (
    <DiagramContext value={sources}>
      <ReactFlow
        className={classes.flow}
        aria-label={label}
        nodes={drawn.nodes}
        edges={drawn.edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodeClick={pick}
        onNodeDoubleClick={open}
        onNodeContextMenu={menu}
        onPaneClick={clear}
        onKeyDown={onKeyDown}
        nodesDraggable={false}
        nodesConnectable={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements
        minZoom={0.1}
        maxZoom={2}
        fitView
        fitViewOptions={FIT}
        onMove={(event) => {
          if (event) isMoved.current = true;
        }}
      >
        <SmoothMoves />
        <Refit options={FIT} isMoved={isMoved} />
        <Dots />
        <Controls showInteractive={false} fitViewOptions={FIT} position="bottom-left" />
        {minimap ? <OverviewMap /> : null}
      </ReactFlow>
    </DiagramContext>
  );
});

/** What can be opened; not notes and frames. */
const STEPS = '.react-flow__node-step, .react-flow__node-container';

const NOTHING: ReadonlySet<string> = new Set();

/** With notes, and with every group unfolded: here people look at steps. */
function drawShown(graph: GraphDocument, { nodes, edges }: FlowParts) {
  const notes = (graph.notes ?? []).map((note) => noteNode(note, false));
  const groups = (graph.groups ?? []).map((group) => ({ ...group, collapsed: false }));
  return drawAll({ nodes, edges, notes, groups, selection: NOTHING });
}

function useSources({ useStatus, marks, breakpoints }: Partial<GraphViewProps>): DiagramSources {
  return useMemo(
    () => ({
      useStatus: useStatus ?? nothing,
      useMark: (id) => marks?.get(id),
      useProblem: nothing,
      useBreakpoint: (id) => breakpoints?.has(id) ?? false,
      useIsTarget: never,
    }),
    [useStatus, marks, breakpoints],
  );
}

function useCentre(id: string | null): void {
  const { getInternalNode, setCenter, getZoom } = useReactFlow();
  useEffect(() => {
    const node = id === null ? undefined : getInternalNode(id);
    if (!node) return;
    const { x, y } = node.internals.positionAbsolute;
    void setCenter(x + (node.width ?? 0) / 2, y + (node.height ?? 0) / 2, {
      zoom: Math.max(getZoom(), 0.6),
      duration: 120,
    });
  }, [id, getInternalNode, setCenter, getZoom]);
}
