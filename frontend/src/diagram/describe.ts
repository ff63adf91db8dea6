import type { GraphNode, Json, StepKind } from './types';

/** Fields that tell the most about a step, in this order; used until the server has described the config. */
const TELLING = [
  'url',
  'condition',
  'expression',
  'items',
  'subject',
  'to',
  'title',
  'question',
  'path',
  'query',
  'statement',
  'seconds',
  'message',
  'value',
];

/** A whole expression reads as its inside: '{{ run.input.x }}' says run.input.x. */
const bare = (line: string): string => /^\{\{([^{}]*)\}\}$/.exec(line)?.[1]?.trim() ?? line;

function inWords(value: Json | undefined): string {
  if (typeof value === 'string') return bare(value.trim().split('\n', 1)[0] ?? '');
  if (typeof value === 'number') return String(value);
  return '';
}

/** One line that says what a node does, made from its config alone. */
export function describeLocally(node: GraphNode, kind: StepKind | undefined): string {
  if (!kind) return `unknown kind '${node.kind}'`;
  for (const field of TELLING) {
    const words = inWords(node.config[field]);
    if (words) return field === 'url' ? `${inWords(node.config.method) || 'GET'} ${words}` : words;
  }
  return kind.summary;
}
