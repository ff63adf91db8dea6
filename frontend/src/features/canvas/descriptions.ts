import { useEffect, useState } from 'react';

import type { Description, GraphDocument, GraphNode } from '../../diagram';
import { formatJson } from '../../lib/json';
import { describeNodes } from './api';

type Asked = Pick<GraphNode, 'kind' | 'config'>;
type Ask = (nodes: Asked[]) => Promise<(Description | null)[]>;

/** As many as one call may name. */
const AT_ONCE = 1000;

/**
 * What the server says of each node's config: its line and its ports. Asked once for each kind and config, all that are
 * new in one call; until an answer comes, the last one of that node stands.
 */
export class Descriptions {
  #ask: Ask;
  #tell: (known: ReadonlyMap<string, Description>) => void;
  #answers = new Map<string, Description | null>();
  #texts = new WeakMap<object, string>();
  #asked = new Set<string>();
  #nodes: readonly GraphNode[] = [];
  #told: ReadonlyMap<string, Description> = new Map();

  constructor(ask: Ask, tell: (known: ReadonlyMap<string, Description>) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  follow(document: GraphDocument): void {
    this.#nodes = document.nodes;
    const wanted = new Map<string, Asked>();
    for (const node of document.nodes) {
      const name = this.#nameOf(node);
      if (Object.keys(node.config).length === 0 || this.#answers.has(name) || this.#asked.has(name)) continue;
      wanted.set(name, { kind: node.kind, config: node.config });
    }
    this.#publish();
    const all = [...wanted];
    for (let at = 0; at < all.length; at += AT_ONCE) void this.#run(all.slice(at, at + AT_ONCE));
  }

  #nameOf(node: GraphNode): string {
    const known = this.#texts.get(node.config);
    if (known !== undefined) return known;
    const name = `${node.kind} ${formatJson(node.config)}`;
    this.#texts.set(node.config, name);
    return name;
  }

  async #run(wanted: [string, Asked][]): Promise<void> {
    for (const [name] of wanted) this.#asked.add(name);
    try {
      const answers = await this.#ask(wanted.map(([, node]) => node));
      for (const [at, [name]] of wanted.entries()) this.#answers.set(name, answers[at] ?? null);
      this.#publish();
    } catch {
      // No connection: the nodes go on with their own words, and are asked for again at the next change.
    } finally {
      for (const [name] of wanted) this.#asked.delete(name);
    }
  }

  #publish(): void {
    const known = new Map<string, Description>();
    for (const node of this.#nodes) {
      const answer =
        this.#answers.get(this.#nameOf(node)) ??
        (Object.keys(node.config).length > 0 ? this.#told.get(node.id) : undefined);
      if (answer) known.set(node.id, answer);
    }
    const isSame = known.size === this.#told.size && [...known].every(([id, one]) => this.#told.get(id) === one);
    if (isSame) return;
    this.#told = known;
    this.#tell(known);
  }
}

const PAUSE_MS = 350;

export function useDescriptions(
  ws: string,
  workflowId: string,
  document: GraphDocument,
): ReadonlyMap<string, Description> {
  const [known, setKnown] = useState<ReadonlyMap<string, Description>>(() => new Map());
  const [service] = useState(
    () => new Descriptions(async (nodes) => (await describeNodes(ws, workflowId, nodes)).items, setKnown),
  );
  useEffect(() => {
    const timer = setTimeout(() => service.follow(document), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [service, document]);
  return known;
}
