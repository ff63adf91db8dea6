import type { NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';

import {
  type DrawnNode,
  type GraphDocument,
  HEADER_HEIGHT,
  isStepNode,
  NODE_WIDTH,
  type NoteFlowNode,
  PADDING,
  type Point,
  type StepFlowNode,
  snap,
} from '../../diagram';
import { type Hands, useHands } from './hands';
import { move, moveInto } from './model/document';
import { carryMembers } from './model/groups';
import { resizeNote } from './model/notes';
import { absolutePlace, containerAt } from './model/places';
import { type Splice, spliceStep, whyNotSplice } from './model/splice';
import { edgeOf } from './model/walk';

type Places = ReadonlyMap<string, Point>;
const NOWHERE: Places = new Map();

/** The edge below a point of the screen, whatever lies on top of it. */
export function edgeAt({ x, y }: Point): string | null {
  for (const element of document.elementsFromPoint(x, y)) {
    const edge = element.closest('.react-flow__edge');
    if (edge) return edge.getAttribute('data-id');
  }
  return null;
}

const pointOf = (event: MouseEvent | TouchEvent | React.MouseEvent): Point => {
  const at = 'changedTouches' in event ? event.changedTouches[0] : event;
  return { x: at?.clientX ?? 0, y: at?.clientY ?? 0 };
};

/** Where a drop would go: into an edge (a step that has none yet), into another container, or just to its new place. */
function targetOf(
  hands: Hands,
  dragged: readonly StepFlowNode[],
  at: Point,
): { edge: string } | { container: string | null } {
  const { document } = hands.store.getState();
  const ids = new Set(dragged.map((node) => node.id));
  const [only] = dragged;
  const edge = only && dragged.length === 1 ? edgeAt(at) : null;
  if (edge && only && whyNotSplice(document, { edge, node: only.id }, hands.kinds) === null) return { edge };
  const point = hands.flow.current?.screenToFlowPosition(at) ?? at;
  return { container: containerAt(document, point, hands.kinds, ids) };
}

/** Only what was dragged itself; what stands inside of a dragged container comes along. */
const rootsOf = (dragged: readonly DrawnNode[]): StepFlowNode[] => {
  const steps = dragged.filter(isStepNode);
  const ids = new Set(steps.map((node) => node.id));
  return steps.filter((node) => !node.parentId || !ids.has(node.parentId));
};

const isMargin = (node: DrawnNode): boolean => !isStepNode(node);

function drop(hands: Hands, dragged: readonly DrawnNode[], at: Point): void {
  const { apply, document } = hands.store.getState();
  const roots = rootsOf(dragged);
  // Notes and groups keep their level; what comes along with them only moves.
  if (dragged.some(isMargin)) {
    const ends = carryMembers(
      document,
      dragged.map((node) => [node.id, node.position]),
    );
    apply(dragged.length === 1 ? 'Move it' : `Move ${dragged.length} things`, (d) => move(d, snapped(new Map(ends))));
    return;
  }
  const target = targetOf(hands, roots, at);
  if ('edge' in target) {
    const [node] = roots;
    if (node) apply('Put a step into an edge', (d) => splicedIn(hands, d, { edge: target.edge, node: node.id }));
    return;
  }
  dropInto(hands, roots, target.container);
}

function splicedIn(hands: Hands, document: GraphDocument, ends: Splice): GraphDocument {
  const width = (id: string | undefined) => (id && hands.flow.current?.getNode(id)?.width) || NODE_WIDTH;
  const source = edgeOf(document, ends.edge)?.source;
  return spliceStep(document, ends, { kinds: hands.kinds, width: width(ends.node), sourceWidth: width(source) });
}

const snapped = (places: Places): Places =>
  new Map([...places].map(([id, { x, y }]) => [id, { x: snap(x), y: snap(y) }]));

function dropInto(hands: Hands, roots: readonly StepFlowNode[], parent: string | null): void {
  const { document, apply } = hands.store.getState();
  const origin = parent === null ? { x: 0, y: 0 } : absolutePlace(document, parent);
  const corner = parent === null ? null : { x: PADDING, y: HEADER_HEIGHT + PADDING };
  const places = new Map(
    roots.map((node) => {
      const from = node.parentId ? absolutePlace(document, node.parentId) : { x: 0, y: 0 };
      const x = snap(node.position.x + from.x - origin.x);
      const y = snap(node.position.y + from.y - origin.y);
      return [node.id, corner ? { x: Math.max(x, corner.x), y: Math.max(y, corner.y) } : { x, y }];
    }),
  );
  const ids = roots.map((node) => node.id);
  apply(ids.length === 1 ? 'Move a step' : `Move ${ids.length} steps`, (d) =>
    moveInto(d, ids, parent, { places, kinds: hands.kinds }),
  );
}

const placedAt = <T extends DrawnNode>(nodes: T[], places: Places): T[] => {
  if (places.size === 0) return nodes;
  return nodes.map((node) => {
    const position = places.get(node.id);
    return position ? { ...node, position, dragging: true } : node;
  });
};

interface Resizing {
  id: string;
  size: { width: number; height: number };
}

/** Places and sizes stay out of the document until the hand lets go: one drag is one entry of the history. */
export function useDrag(nodes: StepFlowNode[], notes: NoteFlowNode[]) {
  const hands = useHands();
  const [places, setPlaces] = useState<Places>(NOWHERE);
  const latest = useRef(places);
  latest.current = places;
  const [resizing, setResizing] = useState<Resizing | null>(null);
  const shown = useMemo(() => placedAt(nodes, places), [nodes, places]);
  const shownNotes = useMemo(() => {
    const placed = placedAt(notes, places);
    if (!resizing) return placed;
    return placed.map((note) =>
      note.id === resizing.id ? { ...note, ...resizing.size, measured: resizing.size } : note,
    );
  }, [notes, places, resizing]);

  const endResize = useCallback(
    ({ id, size }: Resizing) => {
      const change = { ...size, position: latest.current.get(id) };
      hands.store.getState().apply('Resize a note', (document) => resizeNote(document, id, change));
      setResizing(null);
      setPlaces(NOWHERE);
    },
    [hands],
  );

  const onPositions = useCallback(
    (changes: NodeChange<DrawnNode>[]) => {
      const sized = changes.find((change) => change.type === 'dimensions' && change.resizing !== undefined);
      const isResize = sized?.type === 'dimensions' && sized.dimensions !== undefined;
      if (isResize && sized.dimensions && sized.resizing) setResizing({ id: sized.id, size: sized.dimensions });
      else if (isResize && sized.dimensions) endResize({ id: sized.id, size: sized.dimensions });
      const moved = changes.flatMap((c): [string, Point][] =>
        c.type === 'position' && c.position && (c.dragging || isResize) ? [[c.id, c.position]] : [],
      );
      if (moved.length > 0)
        setPlaces((now) => new Map([...now, ...carryMembers(hands.store.getState().document, moved)]));
    },
    [hands, endResize],
  );

  const onDrag = useCallback(
    (event: MouseEvent | TouchEvent | React.MouseEvent, _: unknown, dragged: DrawnNode[]) => {
      const roots = rootsOf(dragged);
      if (roots.length === 0 || dragged.some(isMargin)) return;
      const target = targetOf(hands, roots, pointOf(event));
      const home = roots[0]?.data.node.parent ?? null;
      const shownTarget = 'edge' in target ? target.edge : target.container === home ? null : target.container;
      if (hands.ui.getState().dropTarget !== shownTarget) hands.ui.getState().set({ dropTarget: shownTarget });
    },
    [hands],
  );

  const onDrop = useCallback(
    (event: MouseEvent | TouchEvent | React.MouseEvent, _: unknown, dragged: DrawnNode[]) => {
      hands.ui.getState().set({ dropTarget: null });
      if (places.size > 0) drop(hands, dragged, pointOf(event));
      setPlaces(NOWHERE);
    },
    [hands, places],
  );

  return { shown, shownNotes, onPositions, onDrag, onDrop };
}
