import type { GraphDocument, GraphEdge, GraphNode } from '../../../diagram';

const KINDS = ['http_request', 'set_fields', 'python', 'template', 'validate'];
const PER_ROW = 25;

/** Rows of chained steps that hang together, for measuring. */
export function largeGraph(size: number): GraphDocument {
  const nodes = Array.from({ length: size }, (_, at): GraphNode => {
    const kind = at === 0 ? 'start' : (KINDS[at % KINDS.length] ?? 'python');
    return {
      id: `n${at}`,
      key: `${kind}_${at}`,
      name: `Step ${at}`,
      kind,
      config: kind === 'http_request' ? { url: `https://api.example.com/items/${at}` } : {},
      policy: {},
      parent: null,
      position: { x: (at % PER_ROW) * 272, y: Math.floor(at / PER_ROW) * 112 },
    };
  });
  const edges = nodes.slice(1).map((node, at): GraphEdge => {
    const from = (at + 1) % PER_ROW === 0 ? at + 1 - PER_ROW : at;
    return { id: `e${at}`, source: `n${from}`, source_port: 'out', target: node.id };
  });
  return { schema: 1, nodes, edges };
}
