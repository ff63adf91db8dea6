/** Looks of nodes and edges, and their layout. Shared by canvas and monitor; knows neither. */

export { GraphView, type GraphViewProps } from './graph-view';
export { KindIcon } from './kind-icon';
export { layOut, needsLayout } from './layout';
export * from './sizes';
export { STATUS_LOOKS } from './status';
export { StatusBadge, StatusShape } from './status-badge';
export * from './types';
