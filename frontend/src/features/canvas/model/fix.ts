/** What one click mends. The server says which acts (builder/validation/fixes.py); here they become one change of the document. */
import type { GraphDocument, GraphNode, JsonObject, KindsByName, Policy } from '../../../diagram';
import { isObject, type Json } from '../../../lib/json';
import { addNode, connect, newId, remove, removeAndBridge, setConfig, setPolicy } from './document';
import { literalFields, renameReferences } from './references';
import { edgeOf, nodeOf } from './walk';

export interface FixAct {
  act:
    | 'connect'
    | 'add_start'
    | 'delete_edge'
    | 'delete_step'
    | 'move_edge'
    | 'merge'
    | 'move_out'
    | 'set'
    | 'unset'
    | 'rewrite';
  node?: string;
  edge?: string;
  field?: string;
  port?: string;
  target?: string;
  was?: string;
  value?: Json;
}

export interface Fix {
  title: string;
  acts: readonly FixAct[];
}

type Mend = (document: GraphDocument, act: FixAct, kinds: KindsByName) => GraphDocument;

const LEFT = 256; // of the step that follows

const MENDS: Readonly<Record<FixAct['act'], Mend>> = {
  connect: (document, { node = '', port = 'out', target = '' }, kinds) =>
    connect(document, { source: node, port, target }, kinds),
  add_start: addStart,
  delete_edge: (document, { edge = '' }) => remove(document, [edge]),
  delete_step: (document, { node = '' }, kinds) => removeAndBridge(document, [node], kinds),
  move_edge: (document, { edge: id = '', port = '' }) =>
    edgeOf(document, id)
      ? { ...document, edges: document.edges.map((one) => (one.id === id ? { ...one, source_port: port } : one)) }
      : document,
  merge,
  move_out: (document, { node = '' }) => patch(document, node, (one) => ({ ...one, parent: null })),
  set,
  unset,
  rewrite: (document, { node = '', was = '', value = null }) =>
    patch(document, node, (one) => {
      const config = mapText(one.config, was, value) as JsonObject;
      const policy = mapText(one.policy as JsonObject, was, value) as Policy;
      return config === one.config && policy === one.policy ? one : { ...one, config, policy };
    }),
};

/** The document after all acts; null where one of them finds something else than the check had found. */
export function applyFix(document: GraphDocument, fix: Fix, kinds: KindsByName): GraphDocument | null {
  let mended = document;
  for (const act of fix.acts) {
    const next = MENDS[act.act]?.(mended, act, kinds) ?? mended;
    if (next === mended) return null;
    mended = next;
  }
  return mended;
}

function patch(document: GraphDocument, id: string, change: (node: GraphNode) => GraphNode): GraphDocument {
  const node = nodeOf(document, id);
  const changed = node && change(node);
  if (!node || !changed || changed === node) return document;
  return { ...document, nodes: document.nodes.map((one) => (one === node ? changed : one)) };
}

function addStart(document: GraphDocument, { target = '', value }: FixAct, kinds: KindsByName): GraphDocument {
  const before = nodeOf(document, target);
  if (!before || typeof value !== 'string') return document;
  const id = newId('n');
  const position = { x: before.position.x - LEFT, y: before.position.y };
  const added = addNode(document, { id, kind: value, name: kinds.get(value)?.title ?? value, key: value, position });
  return connect(added, { source: id, port: 'out', target }, kinds);
}

function set(document: GraphDocument, { node: id = '', field = '', was, value = null }: FixAct): GraphDocument {
  const node = nodeOf(document, id);
  if (!node) return document;
  if (field === 'key' || field === 'kind') {
    if (was !== undefined && node[field] !== was) return document;
    return patch(document, id, (one) => ({ ...one, [field]: value }));
  }
  const name = policyField(field);
  if (name) return setPolicy(document, id, { ...node.policy, [name]: value });
  return setConfig(document, id, { ...node.config, [field]: value });
}

function unset(document: GraphDocument, { node: id = '', field = '' }: FixAct): GraphDocument {
  const node = nodeOf(document, id);
  if (!node) return document;
  const name = policyField(field);
  if (name) return name in node.policy ? setPolicy(document, id, without(node.policy, name)) : document;
  return field in node.config ? setConfig(document, id, without(node.config, field)) : document;
}

const policyField = (field: string): string | null => (field.startsWith('policy.') ? field.slice(7) : null);

const without = <T extends object>(object: T, name: string): T =>
  Object.fromEntries(Object.entries(object).filter(([one]) => one !== name)) as T;

/** Everybody who read the first step reads the second, what followed the first follows the second, and the first goes. */
function merge(document: GraphDocument, { node: id = '', target: stays = '' }: FixAct, kinds: KindsByName) {
  const node = nodeOf(document, id);
  const target = nodeOf(document, stays);
  if (!node || !target) return document;
  const rename = (key: string) => (key === node.key ? target.key : key);
  const nodes = document.nodes.map((one) => {
    const config = renameReferences(one.config, rename, literalFields(kinds.get(one.kind)));
    const policy = renameReferences(one.policy as JsonObject, rename) as Policy;
    return config === one.config && policy === one.policy ? one : { ...one, config, policy };
  });
  const led = document.edges.filter((edge) => edge.source === id);
  const alone = remove({ ...document, nodes }, [id]);
  return led.reduce(
    (now, edge) => connect(now, { source: stays, port: edge.source_port, target: edge.target }, kinds),
    alone,
  );
}

/** The value with each text that reads `was` replaced; the same value where there is none. */
function mapText(value: Json, was: string, now: Json): Json {
  if (value === was) return now;
  if (Array.isArray(value)) {
    const mapped = value.map((one) => mapText(one, was, now));
    return mapped.every((one, at) => one === value[at]) ? value : mapped;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]): [string, Json] => [name, mapText(one, was, now)]);
  return entries.every(([name, one]) => one === value[name]) ? value : Object.fromEntries(entries);
}
