import { childrenByParent, type GraphDocument, type GraphNode } from '../../../diagram';

export interface OutlineRow {
  node: GraphNode;
  depth: number;
  /** 'Then: approved to Corrections, rejected to Rejected.' */
  next: string;
}

/** A level's nodes so that each comes after all that lead to it; what stands in a circle comes last. */
function inRunOrder(nodes: readonly GraphNode[], graph: GraphDocument): GraphNode[] {
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  const here = graph.edges.filter((edge) => waiting.has(edge.source) && waiting.has(edge.target));
  for (const edge of here) waiting.set(edge.target, (waiting.get(edge.target) ?? 0) + 1);
  const byPlace = [...nodes].sort((a, b) => a.position.x - b.position.x || a.position.y - b.position.y);
  const ready = byPlace.filter((node) => waiting.get(node.id) === 0);
  const done: GraphNode[] = [];
  for (let node = ready.shift(); node; node = ready.shift()) {
    done.push(node);
    for (const edge of here) {
      if (edge.source !== node.id) continue;
      const left = (waiting.get(edge.target) ?? 0) - 1;
      waiting.set(edge.target, left);
      const target = nodes.find((one) => one.id === edge.target);
      if (left === 0 && target) ready.push(target);
    }
  }
  return [...done, ...byPlace.filter((node) => !done.includes(node))];
}

export function outlineOf(graph: GraphDocument): OutlineRow[] {
  const children = childrenByParent(graph);
  const names = new Map(graph.nodes.map((node) => [node.id, node.name || node.key]));
  const next = (node: GraphNode): string => {
    const leaving = graph.edges
      .filter((edge) => edge.source === node.id)
      .map((edge) => `${edge.source_port === 'out' ? '' : `${edge.source_port} to `}${names.get(edge.target) ?? ''}`);
    return leaving.length === 0 ? 'Nothing follows.' : `Then: ${leaving.join(', ')}.`;
  };
  const rows: OutlineRow[] = [];
  const visit = (parent: string | null, depth: number): void => {
    for (const node of inRunOrder(children.get(parent) ?? [], graph)) {
      rows.push({ node, depth, next: next(node) });
      visit(node.id, depth + 1);
    }
  };
  visit(null, 0);
  return rows;
}
