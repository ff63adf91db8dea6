/** One look of the minimap for canvas and monitor. */
export const MINIMAP_LOOK = {
  pannable: true,
  zoomable: true,
  position: 'bottom-right',
  nodeBorderRadius: 12,
  nodeColor: 'var(--diagram-minimap-node)',
  maskColor: 'var(--diagram-minimap-mask)',
  bgColor: 'var(--diagram-surface)',
  style: { width: 168, height: 112 },
} as const;
