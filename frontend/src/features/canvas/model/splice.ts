import { type GraphDocument, type KindsByName, NODE_WIDTH } from '../../../diagram';
import { moveInto, splice } from './document';
import { makeRoom, placeAfter } from './room';
import { edgeOf, nodeOf, withBodies } from './walk';

export interface Splice {
  edge: string;
  node: string;
}

/** A kind that edges lead into and out of: only such a one can stand in the middle of an edge. */
export function fitsIntoEdge(kind: string, kinds: KindsByName): boolean {
  const spec = kinds.get(kind);
  return spec === undefined || (spec.has_input && spec.ports.length > 0);
}

/** Why a step cannot be put into an edge, in a sentence; null where it can. */
export function whyNotSplice(document: GraphDocument, { edge, node }: Splice, kinds: KindsByName): string | null {
  const between = edgeOf(document, edge);
  const step = nodeOf(document, node);
  const source = between && nodeOf(document, between.source);
  if (!step || !source) return 'The step or the edge is no longer there.';
  if (document.edges.some((one) => one.source === node || one.target === node)) return 'It is connected already.';
  if (!fitsIntoEdge(step.kind, kinds)) return 'No edge leads through a step of this kind.';
  return withBodies(document, [node]).has(source.id) ? 'A container cannot be put into its own body.' : null;
}

/** Puts a loose step into an edge, also into one on another level; what follows makes room. */
export function spliceStep(
  document: GraphDocument,
  ends: Splice,
  { kinds, width = NODE_WIDTH, sourceWidth = NODE_WIDTH }: { kinds: KindsByName; width?: number; sourceWidth?: number },
): GraphDocument {
  const edge = edgeOf(document, ends.edge);
  const source = edge && nodeOf(document, edge.source);
  if (!source || whyNotSplice(document, ends, kinds) !== null) return document;
  const roomy = makeRoom(document, ends.edge, width);
  const without = { ...roomy, nodes: roomy.nodes.filter((node) => node.id !== ends.node) };
  const places = new Map([[ends.node, placeAfter(without, nodeOf(roomy, source.id) ?? source, sourceWidth)]]);
  const moved = moveInto(roomy, [ends.node], source.parent, { places, kinds });
  return splice(moved, ends.edge, ends.node, kinds);
}
