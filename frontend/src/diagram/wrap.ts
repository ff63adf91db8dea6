import type { Box } from './layout';
import type { GraphEdge } from './types';

const WIDEST_ROW = 1040;
const GAP_BETWEEN_ROWS = 64;

interface Column {
  boxes: Box[];
  left: number;
  right: number;
}

function columnsOf(boxes: readonly Box[]): Column[] {
  const columns: Column[] = [];
  for (const box of [...boxes].sort((a, b) => a.x - b.x)) {
    const last = columns.at(-1);
    if (last && box.x < last.right) {
      last.boxes.push(box);
      last.right = Math.max(last.right, box.x + box.width);
    } else columns.push({ boxes: [box], left: box.x, right: box.x + box.width });
  }
  return columns;
}

/**
 * A long chain in one line would be read at a tenth of its size: it goes on in a new row, as text does. A row ends only
 * where a single edge goes over, so that parallel branches stay side by side.
 */
export function wrapRows(boxes: readonly Box[], edges: readonly GraphEdge[]): Box[] {
  const columns = columnsOf(boxes);
  const columnOf = new Map(columns.flatMap((column, at) => column.boxes.map((box): [string, number] => [box.id, at])));
  const crossing = columns.map(
    (_, at) => edges.filter((e) => (columnOf.get(e.source) ?? 0) < at && (columnOf.get(e.target) ?? 0) >= at).length,
  );
  const rows: Column[][] = [[]];
  columns.forEach((column, at) => {
    const row = rows.at(-1) ?? [];
    const start = row[0]?.left ?? column.left;
    if (row.length > 0 && column.right - start > WIDEST_ROW && (crossing[at] ?? 0) <= 1) rows.push([column]);
    else row.push(column);
  });
  return stack(rows);
}

function stack(rows: readonly Column[][]): Box[] {
  let top = 0;
  return rows.flatMap((row) => {
    const boxes = row.flatMap((column) => column.boxes);
    const left = Math.min(...boxes.map((box) => box.x));
    const high = Math.min(...boxes.map((box) => box.y));
    const height = Math.max(...boxes.map((box) => box.y + box.height)) - high;
    const placed = boxes.map((box) => ({ ...box, x: box.x - left, y: box.y - high + top }));
    top += height + GAP_BETWEEN_ROWS;
    return placed;
  });
}
