import type { Workflow } from '../../../api/types';
import type { GraphDocument, GraphNode } from '../../../diagram';
import type { Version } from '../api';
import type { Kept } from './handlers';

const NOTES = ['', 'Read the documents with the better model', 'Two people approve payments above 500'];
const PEOPLE = ['Ana Duarte', 'Ben Okafor', null];

/** Versions that differ: the first had a shorter way and another setting; the newest is the draft. */
export function versionsOf(workflow: Workflow, graph: GraphDocument): Version[] {
  const count = workflow.live_version ?? 0;
  return Array.from({ length: count }, (_, at) => ({
    number: at + 1,
    note: NOTES[at % NOTES.length] ?? '',
    published_at: new Date(Date.parse(workflow.updated_at) - (count - at) * 86_400_000).toISOString(),
    published_by: PEOPLE[at % PEOPLE.length] ?? null,
    graph: at + 1 === count ? graph : earlier(graph, count - at),
  }));
}

function earlier(graph: GraphDocument, age: number): GraphDocument {
  const second = graph.nodes[1];
  const last = graph.nodes.at(-1);
  if (!second || !last) return graph;
  const before: GraphNode = {
    ...second,
    name: `${second.name} (old)`,
    config: { ...second.config, url: `/v${age}/batch` },
  };
  const nodes = graph.nodes.filter((node) => node !== last).map((node) => (node === second ? before : node));
  const edges = graph.edges.filter((edge) => edge.source !== last.id && edge.target !== last.id);
  return { ...graph, nodes, edges };
}

/** As the server does it: each version at which the step became another one, the newest first. */
export function historyOf({ versions, draft }: Kept, id: string) {
  const saved = {
    number: null,
    note: '',
    published_at: draft.updated_at,
    published_by: draft.updated_by,
    graph: draft.graph,
  };
  let before = 'null';
  const items = [...versions, saved].flatMap(({ number, note, published_at, published_by, graph }) => {
    const node = graph?.nodes.find((one) => one.id === id) ?? null;
    const text = JSON.stringify(node && { ...node, position: null });
    const isSame = text === before;
    before = text;
    return isSame ? [] : [{ number, note, at: published_at, by: published_by, node }];
  });
  return { items: items.reverse(), since: versions[0]?.number ?? null };
}
