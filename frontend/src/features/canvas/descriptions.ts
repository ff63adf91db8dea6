import { useEffect, useState } from 'react';

import type { Description, GraphDocument, GraphNode } from '../../diagram';
import { formatJson } from '../../lib/json';
import { describeNode } from './api';

type Ask = (node: Pick<GraphNode, 'kind' | 'config'>) => Promise<Description>;

const AT_ONCE = 3;

/**
 * What the server says of each node's config: its line and its ports. Asked once for each kind and config, a few at a time;
 * until an answer comes, the last one of that node stands.
 */
export class Descriptions {
  #ask: Ask;
  #tell: (known: ReadonlyMap<string, Description>) => void;
  #answers = new Map<string, Description>();
  #texts = new WeakMap<object, string>();
  #queue: { name: string; node: GraphNode }[] = [];
  #asked = new Set<string>();
  #running = 0;
  #nodes: readonly GraphNode[] = [];
  #told: ReadonlyMap<string, Description> = new Map();

  constructor(ask: Ask, tell: (known: ReadonlyMap<string, Description>) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  follow(document: GraphDocument): void {
    this.#nodes = document.nodes;
    this.#queue = [];
    for (const node of document.nodes) {
      const name = this.#nameOf(node);
      if (Object.keys(node.config).length === 0 || this.#answers.has(name) || this.#asked.has(name)) continue;
      this.#queue.push({ name, node });
    }
    this.#publish();
    this.#pump();
  }

  #nameOf(node: GraphNode): string {
    const known = this.#texts.get(node.config);
    if (known !== undefined) return known;
    const name = `${node.kind} ${formatJson(node.config)}`;
    this.#texts.set(node.config, name);
    return name;
  }

  #pump(): void {
    while (this.#running < AT_ONCE) {
      const next = this.#queue.shift();
      if (!next) return;
      void this.#run(next.name, next.node);
    }
  }

  async #run(name: string, node: GraphNode): Promise<void> {
    this.#running += 1;
    this.#asked.add(name);
    try {
      this.#answers.set(name, await this.#ask(node));
      this.#publish();
    } catch {
      // Unfinished settings or no connection: the node goes on with its own words.
      this.#asked.delete(name);
    } finally {
      this.#running -= 1;
      this.#pump();
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
    () => new Descriptions(({ kind, config }) => describeNode(ws, workflowId, { kind, config }), setKnown),
  );
  useEffect(() => {
    const timer = setTimeout(() => service.follow(document), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [service, document]);
  return known;
}
