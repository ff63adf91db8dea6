import {
  ERROR_PORT,
  type GraphDocument,
  type GraphEdge,
  type GraphNode,
  OUT_PORT,
  type Port,
  type StepKind,
} from './types';

const NO_EDGES: readonly GraphEdge[] = [];

/** Edges by the node that they leave, in the document's order. */
export function edgesBySource(graph: GraphDocument): ReadonlyMap<string, readonly GraphEdge[]> {
  const found = new Map<string, GraphEdge[]>();
  for (const edge of graph.edges) {
    const list = found.get(edge.source);
    if (list) list.push(edge);
    else found.set(edge.source, [edge]);
  }
  return found;
}

/**
 * The ports that a node shows at its right side. `described` is what the server says of this very config; without it the
 * kind's own ports stand, and ports that edges use are added so that no edge loses its beginning.
 */
export function portsOf(
  kind: StepKind | undefined,
  {
    described,
    leaving = NO_EDGES,
  }: { described?: readonly Port[] | undefined; leaving?: readonly GraphEdge[] | undefined },
): readonly Port[] {
  const known = described ?? kind?.ports ?? [{ name: OUT_PORT, title: '' }];
  const missing = leaving
    .map((edge) => edge.source_port)
    .filter(
      (name, at, all) => name !== ERROR_PORT && all.indexOf(name) === at && !known.some((port) => port.name === name),
    );
  const ports = known.filter((port) => port.name !== ERROR_PORT);
  return missing.length === 0 ? ports : [...ports, ...missing.map((name) => ({ name, title: name }))];
}

/** The error port is there where the policy asks for it or an edge uses it. */
export function showsErrorPort(node: GraphNode, leaving: readonly GraphEdge[] = NO_EDGES): boolean {
  return node.policy.on_error === 'port' || leaving.some((edge) => edge.source_port === ERROR_PORT);
}

/** What stands on an edge: the branch that it takes. A lone `out` says nothing. */
export function edgeLabel(edge: GraphEdge, ports: readonly Port[]): string {
  if (edge.source_port === OUT_PORT) return '';
  if (edge.source_port === ERROR_PORT) return 'on error';
  const port = ports.find((one) => one.name === edge.source_port);
  return port?.title || edge.source_port;
}
