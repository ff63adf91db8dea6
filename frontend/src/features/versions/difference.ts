/** What differs between two graph documents: step by step, and field by field. Pure; the one place that knows it. */
import type { GraphDocument, GraphEdge, GraphNode } from '../../diagram';
import { isObject, type Json, sameJson } from '../../lib/json';

export type How = 'added' | 'removed' | 'changed';

export interface FieldChange {
  /** 'name', 'config.url', 'policy.retry.attempts', 'config.lines[0]'. */
  path: string;
  how: How;
  before?: Json | undefined;
  after?: Json | undefined;
}

export interface StepChange {
  node: GraphNode;
  how: How;
  /** Of a changed step. Where it stands is no change of it. */
  fields: FieldChange[];
}

export interface EdgeChange {
  edge: GraphEdge;
  how: 'added' | 'removed';
}

export interface Difference {
  steps: StepChange[];
  edges: EdgeChange[];
}

const byId = (nodes: readonly GraphNode[]) => new Map(nodes.map((node) => [node.id, node]));

/** From `before` to `after`: what `after` has more is added. */
export function differenceOf(before: GraphDocument, after: GraphDocument): Difference {
  const old = byId(before.nodes);
  const now = byId(after.nodes);
  const kept = after.nodes.flatMap((node): StepChange[] => {
    const was = old.get(node.id);
    if (!was) return [{ node, how: 'added', fields: [] }];
    const fields = fieldsOf(was, node);
    return fields.length === 0 ? [] : [{ node, how: 'changed', fields }];
  });
  const gone = before.nodes.filter((node) => !now.has(node.id));
  return {
    steps: [...kept, ...gone.map((node): StepChange => ({ node, how: 'removed', fields: [] }))],
    edges: edgesOf(before, after),
  };
}

/** An edge that was drawn again between the same ends is the same edge. */
const endsOf = (edge: GraphEdge): string => JSON.stringify([edge.source, edge.source_port, edge.target]);

function edgesOf(before: GraphDocument, after: GraphDocument): EdgeChange[] {
  const old = new Set(before.edges.map(endsOf));
  const now = new Set(after.edges.map(endsOf));
  return [
    ...after.edges.filter((edge) => !old.has(endsOf(edge))).map((edge): EdgeChange => ({ edge, how: 'added' })),
    ...before.edges.filter((edge) => !now.has(endsOf(edge))).map((edge): EdgeChange => ({ edge, how: 'removed' })),
  ];
}

const OWN = ['name', 'key', 'kind', 'parent'] as const;

/** The fields in which a step differs; of one that was not there before, all that say something. */
export function fieldsOf(before: GraphNode | null, after: GraphNode): FieldChange[] {
  const own = OWN.flatMap((name) => changesAt(name, before?.[name] ?? undefined, after[name] ?? undefined));
  return [
    ...own,
    ...changesAt('config', before?.config ?? {}, after.config),
    ...changesAt('policy', (before?.policy ?? {}) as Json, after.policy as Json),
  ];
}

function changesAt(path: string, before: Json | undefined, after: Json | undefined): FieldChange[] {
  if (sameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => changesAt(`${path}.${name}`, before[name], after[name]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.flatMap((one, at) => changesAt(`${path}[${at}]`, before[at], one));
  }
  const how = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ path, how, before, after }];
}

/** `after` with what was taken out still in it, so that both can be seen in one drawing. */
export function unionOf(before: GraphDocument, after: GraphDocument): GraphDocument {
  const now = byId(after.nodes);
  const nodes = [...after.nodes];
  for (const node of before.nodes) {
    if (!now.has(node.id)) nodes.push(besides(node, nodes));
  }
  const known = new Set(nodes.map((node) => node.id));
  const ends = new Set(after.edges.map(endsOf));
  const ids = new Set(after.edges.map((edge) => edge.id));
  const gone = before.edges.filter(
    (edge) => !ends.has(endsOf(edge)) && known.has(edge.source) && known.has(edge.target),
  );
  const edges = gone.map((edge) => (ids.has(edge.id) ? { ...edge, id: `was ${edge.id}` } : edge));
  return { ...after, nodes, edges: [...after.edges, ...edges] };
}

const [WIDE, HIGH, STEP] = [200, 64, 88];

/** Moved down where another step stands in its old place. */
function besides(node: GraphNode, others: readonly GraphNode[]): GraphNode {
  let { x, y } = node.position;
  const covers = (one: GraphNode) =>
    one.parent === node.parent && Math.abs(one.position.x - x) < WIDE && Math.abs(one.position.y - y) < HIGH;
  while (others.some(covers)) y += STEP;
  return y === node.position.y ? node : { ...node, position: { x, y } };
}

/** Which step and which edge of the union is new, gone or changed. */
export function marksOf(difference: Difference, union: GraphDocument): ReadonlyMap<string, How> {
  const marks = new Map<string, How>(difference.steps.map(({ node, how }) => [node.id, how]));
  const edges = new Map(difference.edges.map(({ edge, how }) => [endsOf(edge), how]));
  for (const edge of union.edges) {
    const how = edges.get(endsOf(edge));
    if (how) marks.set(edge.id, how);
  }
  return marks;
}

export function countsOf({ steps, edges }: Difference): Record<How, number> & { edges: number } {
  const of = (how: How) => steps.filter((step) => step.how === how).length;
  return { added: of('added'), removed: of('removed'), changed: of('changed'), edges: edges.length };
}
