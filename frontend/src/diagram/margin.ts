/** Notes and groups in React Flow: what stands beside the steps, and what is folded away. */
import type { Node } from '@xyflow/react';

import { handlesOf } from './measure';
import { HEADER_HEIGHT, NODE_HEIGHT, NODE_WIDTH, type Size } from './sizes';
import type { FlowParts, StepFlowEdge, StepFlowNode } from './to-flow';
import { type GraphGroup, type GraphNote, OUT_PORT, type Point } from './types';

export type NoteFlowNode = Node<{ note: GraphNote }, 'note'>;
export type GroupFlowNode = Node<{ group: GraphGroup; steps: readonly string[] }, 'cluster'>;
export type DrawnNode = StepFlowNode | NoteFlowNode | GroupFlowNode;

export const isStepNode = (node: DrawnNode): node is StepFlowNode => node.type === 'step' || node.type === 'container';

export function noteNode(note: GraphNote, isSelected: boolean): NoteFlowNode {
  return {
    id: note.id,
    type: 'note',
    position: note.position,
    ...note.size,
    measured: note.size,
    selected: isSelected,
    data: { note },
    ariaLabel: `Note: ${note.text.slice(0, 80) || 'empty'}`,
  };
}

export const GROUP_PADDING = 20;
const GROUP_HEADER = 34;
/** A folded group is a card of a step's size. */
export const FOLDED: Size = { width: NODE_WIDTH, height: NODE_HEIGHT };

interface Placed {
  position: Point;
  width?: number | undefined;
  height?: number | undefined;
}

/** The frame around members that stand on one level; folded, the card in the place of the first of them. */
export function frameAround(members: readonly Placed[], isFolded: boolean): Size & Point {
  const left = Math.min(...members.map(({ position }) => position.x));
  const top = Math.min(...members.map(({ position }) => position.y));
  if (isFolded) return { x: left, y: top, ...FOLDED };
  const right = Math.max(...members.map(({ position, width }) => position.x + (width ?? NODE_WIDTH)));
  const bottom = Math.max(...members.map(({ position, height }) => position.y + (height ?? NODE_HEIGHT)));
  return {
    x: left - GROUP_PADDING,
    y: top - GROUP_PADDING - GROUP_HEADER,
    width: right - left + 2 * GROUP_PADDING,
    height: bottom - top + 2 * GROUP_PADDING + GROUP_HEADER,
  };
}

interface Drawing extends FlowParts {
  notes: NoteFlowNode[];
  groups: readonly GraphGroup[];
  selection: ReadonlySet<string>;
}

/** All that is drawn, in the order in which it lies: frames, steps, notes. Without groups the steps and edges are the same lists. */
export function drawAll({ nodes, edges, notes, groups, selection }: Drawing): {
  nodes: DrawnNode[];
  edges: StepFlowEdge[];
} {
  if (groups.length === 0) return { nodes: notes.length === 0 ? nodes : [...nodes, ...notes], edges };
  const byId = new Map<string, StepFlowNode | NoteFlowNode>([...nodes, ...notes].map((node) => [node.id, node]));
  const folded = new Map<string, string>();
  const frames = new Map<string | undefined, GroupFlowNode[]>();
  for (const group of groups) {
    const members = group.members.flatMap((id) => byId.get(id) ?? []);
    if (members.length === 0) continue;
    const frame = groupNode(group, members, selection.has(group.id));
    frames.set(frame.parentId, [...(frames.get(frame.parentId) ?? []), frame]);
    if (group.collapsed) for (const member of members) folded.set(member.id, group.id);
  }
  const isShown = hider(folded, nodes);
  const steps = nodes.flatMap((node): DrawnNode[] => (isShown(node.id) ? [node, ...(frames.get(node.id) ?? [])] : []));
  const shown = notes.filter((note) => !folded.has(note.id));
  return { nodes: [...(frames.get(undefined) ?? []), ...steps, ...shown], edges: foldEdges(edges, folded, isShown) };
}

/** What stands in a folded group, and what stands inside of a container there, is not drawn. */
function hider(folded: ReadonlyMap<string, string>, nodes: readonly StepFlowNode[]): (id: string) => boolean {
  const hidden = new Set(folded.keys());
  for (const node of nodes) if (node.parentId && hidden.has(node.parentId)) hidden.add(node.id); // parents come first
  return (id) => !hidden.has(id);
}

function groupNode(
  group: GraphGroup,
  members: readonly (StepFlowNode | NoteFlowNode)[],
  isSelected: boolean,
): GroupFlowNode {
  const frame = frameAround(members, group.collapsed);
  const steps = members.filter((node) => node.type !== 'note').map((node) => node.id);
  const size = { width: frame.width, height: frame.height };
  const parentId = members.find((node) => node.parentId)?.parentId;
  const state = group.collapsed ? 'folded' : 'open';
  return {
    id: group.id,
    type: 'cluster',
    position: { x: frame.x, y: frame.y },
    ...(parentId ? { parentId } : {}),
    ...size,
    measured: size,
    handles: handlesOf({ size, ports: [{ name: OUT_PORT, title: '' }], hasInput: true }),
    // A lasso over some of its steps must not take the frame, and with it all of them; its header is clicked instead.
    selectable: group.collapsed,
    connectable: false,
    // The inside of a frame belongs to what lies in it and to the canvas below.
    ...(group.collapsed ? {} : { style: { pointerEvents: 'none' as const } }),
    selected: isSelected,
    data: { group, steps },
    ariaLabel: `Group ${group.name}, ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, ${state}`,
  };
}

/** Edges of what is folded away begin and end at the group; those inside of it are not drawn. */
function foldEdges(
  edges: StepFlowEdge[],
  folded: ReadonlyMap<string, string>,
  isShown: (id: string) => boolean,
): StepFlowEdge[] {
  if (folded.size === 0) return edges;
  return edges.flatMap((edge) => {
    const source = folded.get(edge.source) ?? edge.source;
    const target = folded.get(edge.target) ?? edge.target;
    if (source === edge.source && target === edge.target) return isShown(source) ? [edge] : [];
    if (source === target) return [];
    const sourceHandle = source === edge.source ? edge.sourceHandle : OUT_PORT;
    const data = { error: false, label: '', ...edge.data, reach: HEADER_HEIGHT };
    return [{ ...edge, source, target, ...(sourceHandle ? { sourceHandle } : {}), reconnectable: false, data }];
  });
}
