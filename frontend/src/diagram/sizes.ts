/** Measures of the diagram in pixels, on a grid of 4. */
export const GRID = 4;
export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 56;
export const HEADER_HEIGHT = 40;
export const PADDING = 24;
const ROOM_OF_A_PORT = 24;
const LEAST_CONTAINER = { width: 296, height: 144 };

export interface Size {
  width: number;
  height: number;
}

export const snap = (value: number): number => Math.round(value / GRID) * GRID;

/** A node grows only where its ports would no longer be hit one by one. */
export function nodeSize(ports: number): Size {
  return { width: NODE_WIDTH, height: Math.max(NODE_HEIGHT, ports * ROOM_OF_A_PORT) };
}

/** A container is as large as its body asks for, plus its header and a margin. */
export function containerSize(children: readonly Partial<Size & { x: number; y: number }>[]): Size {
  let { width, height } = LEAST_CONTAINER;
  for (const child of children) {
    width = Math.max(width, (child.x ?? 0) + (child.width ?? NODE_WIDTH) + PADDING);
    height = Math.max(height, (child.y ?? 0) + (child.height ?? NODE_HEIGHT) + PADDING);
  }
  return { width: snap(width), height: snap(height) };
}
