/** What expressions of a step may name: of the graph, seen from where it stands. */
import { NO_SCOPE, type Scope } from '../../../components/code/completion';
import type { GraphDocument, GraphNode, KindsByName } from '../../../diagram';
import { isObject } from '../../../lib/json';
import { upstreamOf } from '../model/walk';

export { NO_SCOPE, type Scope };

function inputsOf(document: GraphDocument, kinds: KindsByName): string[] {
  const start = document.nodes.find((node) => kinds.get(node.kind)?.has_input === false);
  const schema = start?.config.input_schema;
  return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
}

const OF_ITEMS = ['item', 'index'];

function givenInside(document: GraphDocument, id: string, kinds: KindsByName): string[] {
  const given = new Set<string>();
  for (let node = parentOf(document, id); node; node = parentOf(document, node.id)) {
    for (const name of kinds.get(node.kind)?.gives ?? OF_ITEMS) given.add(name);
  }
  return [...given];
}

const parentOf = (document: GraphDocument, id: string): GraphNode | undefined => {
  const parent = document.nodes.find((node) => node.id === id)?.parent;
  return document.nodes.find((node) => node.id === parent);
};

export function scopeOf(document: GraphDocument, id: string, kinds: KindsByName): Scope {
  const upstream = upstreamOf(document, id).filter((node) => kinds.get(node.kind)?.has_input !== false);
  return { upstream, inputs: inputsOf(document, kinds), given: givenInside(document, id, kinds) };
}
