/** Looks of nodes and edges, and their layout. Shared by canvas and monitor; knows neither. */

export {
  DiagramContext,
  type DiagramSources,
  type InsertRequest,
  type MarginHands,
  never,
  nothing,
  type ProblemLevel,
} from './context';
export { Dots } from './dots';
export { flowClass } from './flow-class';
export { edgeTypes, nodeTypes } from './flow-types';
export { GraphView, type GraphViewProps } from './graph-view';
export { KindIcon } from './kind-icon';
export { layOut, needsLayout } from './layout';
export {
  type DrawnNode,
  drawAll,
  frameAround,
  type GroupFlowNode,
  isStepNode,
  type NoteFlowNode,
  noteNode,
} from './margin';
export { Markdown } from './markdown';
export { childrenByParent, isContainer, portsById, sizesById } from './measure';
export { OverviewMap } from './overview-map';
export * from './sizes';
export { SmoothMoves } from './smooth-moves';
export { STATUS_LOOKS } from './status';
export { StatusBadge, StatusShape } from './status-badge';
export {
  createToFlow,
  type Description,
  type FlowParts,
  type FlowSources,
  type StepFlowEdge,
  type StepFlowNode,
} from './to-flow';
export * from './types';
