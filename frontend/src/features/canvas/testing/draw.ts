import type { GraphDocument, GraphNode } from '../../../diagram';

/**
 * A graph from a drawing, one chain a line: 'start > fetch > parse', 'review -approved> pay'. A word is a step's key and
 * id; 'each/ocr' stands in the container 'each'. The kind is `kinds[key]`, else pass_through.
 */
export function draw(drawing: string, kinds: Readonly<Record<string, string>> = {}): GraphDocument {
  const nodes = new Map<string, GraphNode>();
  const edges: GraphDocument['edges'][number][] = [];
  const meet = (word: string): string => {
    const [parent, key] = word.includes('/') ? (word.split('/') as [string, string]) : [null, word];
    if (!nodes.has(key)) {
      const place = { x: nodes.size * 256, y: 0 };
      const kind = kinds[key] ?? (key === 'start' ? 'start' : 'pass_through');
      nodes.set(key, { id: key, key, name: '', kind, config: {}, policy: {}, parent, position: place });
    }
    return key;
  };
  for (const line of drawing.trim().split('\n')) {
    const parts = line.trim().split(/\s+(?=>|-)|(?<=>)\s+/);
    let from = meet(parts[0] ?? '');
    for (let at = 1; at + 1 < parts.length; at += 2) {
      const port = parts[at] === '>' ? 'out' : (parts[at] ?? '').slice(1, -1);
      const to = meet(parts[at + 1] ?? '');
      edges.push({ id: `${from}-${port}-${to}`, source: from, source_port: port, target: to });
      from = to;
    }
  }
  return { schema: 1, nodes: [...nodes.values()], edges };
}

/** The edges as they are drawn: 'fetch > parse', 'review -approved> pay'. */
export function edgesOf(graph: GraphDocument): string[] {
  const key = (id: string) => graph.nodes.find((node) => node.id === id)?.key ?? id;
  return graph.edges
    .map((e) => `${key(e.source)} ${e.source_port === 'out' ? '>' : `-${e.source_port}>`} ${key(e.target)}`)
    .sort();
}
