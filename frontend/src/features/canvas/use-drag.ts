import type { NodeChange } from '@xyflow/react';
import { useCallback, useMemo, useState } from 'react';

import { HEADER_HEIGHT, PADDING, type Point, type StepFlowNode, snap } from '../../diagram';
import { type Hands, useHands } from './hands';
import { move, moveInto, splice } from './model/document';
import { absolutePlace, containerAt } from './model/places';

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
  const isLoose = dragged.length === 1 && !document.edges.some((edge) => ids.has(edge.source) || ids.has(edge.target));
  const edge = isLoose ? edgeAt(at) : null;
  if (edge) return { edge };
  const point = hands.flow.current?.screenToFlowPosition(at) ?? at;
  return { container: containerAt(document, point, hands.kinds, ids) };
}

/** Only what was dragged itself; what stands inside of a dragged container comes along. */
const rootsOf = (dragged: readonly StepFlowNode[]): StepFlowNode[] => {
  const ids = new Set(dragged.map((node) => node.id));
  return dragged.filter((node) => !node.parentId || !ids.has(node.parentId));
};

function drop(hands: Hands, dragged: readonly StepFlowNode[], at: Point): void {
  const { document, apply } = hands.store.getState();
  const roots = rootsOf(dragged);
  const target = targetOf(hands, roots, at);
  if ('edge' in target) {
    const [node] = roots;
    if (!node) return;
    const places = new Map([[node.id, node.position]]);
    apply('Put a step into an edge', (d) => splice(move(d, places), target.edge, node.id, hands.kinds));
    return;
  }
  const parent = target.container;
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

/** Drag positions stay out of the document until the drop: one drag is one entry of the history. */
export function useDrag(nodes: StepFlowNode[]) {
  const hands = useHands();
  const [places, setPlaces] = useState<Places>(NOWHERE);
  const shown = useMemo(() => {
    if (places.size === 0) return nodes;
    return nodes.map((node) => {
      const position = places.get(node.id);
      return position ? { ...node, position, dragging: true } : node;
    });
  }, [nodes, places]);

  const onPositions = useCallback((changes: NodeChange<StepFlowNode>[]) => {
    const moved = changes.flatMap((c): [string, Point][] =>
      c.type === 'position' && c.position && c.dragging ? [[c.id, c.position]] : [],
    );
    if (moved.length > 0) setPlaces((now) => new Map([...now, ...moved]));
  }, []);

  const onDrag = useCallback(
    (event: MouseEvent | TouchEvent | React.MouseEvent, _: unknown, dragged: StepFlowNode[]) => {
      const target = targetOf(hands, rootsOf(dragged), pointOf(event));
      const home = dragged[0]?.data.node.parent ?? null;
      const shownTarget = 'edge' in target ? target.edge : target.container === home ? null : target.container;
      if (hands.ui.getState().dropTarget !== shownTarget) hands.ui.getState().set({ dropTarget: shownTarget });
    },
    [hands],
  );

  const onDrop = useCallback(
    (event: MouseEvent | TouchEvent | React.MouseEvent, _: unknown, dragged: StepFlowNode[]) => {
      hands.ui.getState().set({ dropTarget: null });
      if (places.size > 0) drop(hands, dragged, pointOf(event));
      setPlaces(NOWHERE);
    },
    [hands, places],
  );
  return { shown, onPositions, onDrag, onDrop };
}
