/** What an expression may say at the cursor. Pure; the editor asks it. */
import type { GraphNode } from '../../diagram';

export interface Suggestion {
  label: string;
  detail: string;
}

export interface Scope {
  upstream: readonly Pick<GraphNode, 'key' | 'name' | 'kind'>[];
  /** Names in the run's input, as far as the start step's schema tells. */
  inputs: readonly string[];
  /** Names that the containers around the step give to expressions inside. */
  given: readonly string[];
}

export const NO_SCOPE: Scope = { upstream: [], inputs: [], given: [] };

const FILTERS = [
  'default',
  'join',
  'length',
  'lower',
  'upper',
  'round',
  'tojson',
  'first',
  'last',
  'sum',
  'sort',
  'unique',
  'map',
  'selectattr',
  'replace',
  'trim',
];

/** The expression's text before the cursor, where the cursor stands inside of {{ }}; else null. */
export function insideBraces(before: string): string | null {
  const open = before.lastIndexOf('{{');
  return open === -1 || before.indexOf('}}', open) !== -1 ? null : before.slice(open + 2);
}

export interface Completion {
  /** How many characters before the cursor the suggestion replaces. */
  typed: number;
  options: Suggestion[];
}

/** Suggestions for the text before the cursor; null outside of an expression. */
export function complete(before: string, scope: Scope): Completion | null {
  const inside = insideBraces(before);
  if (inside === null) return null;
  const path = /[A-Za-z_][\w.]*$/.exec(inside)?.[0] ?? '';
  const typed = path.slice(path.lastIndexOf('.') + 1);
  const owner = path.slice(0, Math.max(path.lastIndexOf('.'), 0));
  const isFilter = /\|\s*\w*$/.test(inside);
  const options = isFilter ? FILTERS.map((label) => ({ label, detail: 'filter' })) : optionsOf(owner, scope);
  const typedLow = typed.toLowerCase();
  return { typed: typed.length, options: options.filter((one) => one.label.toLowerCase().includes(typedLow)) };
}

function optionsOf(owner: string, scope: Scope): Suggestion[] {
  if (owner === '') return names(scope);
  if (owner === 'run') {
    return [
      { label: 'input', detail: 'what the run was started with' },
      { label: 'id', detail: "the run's id" },
      { label: 'number', detail: "the run's number" },
    ];
  }
  if (owner === 'run.input') return scope.inputs.map((label) => ({ label, detail: 'input' }));
  if (owner === 'steps') return scope.upstream.map(({ key, name }) => ({ label: key, detail: name || 'step' }));
  if (/^steps\.\w+$/.test(owner)) return [{ label: 'output', detail: 'what the step answered' }];
  return [];
}

const GIVEN: { [name: string]: string } = {
  item: 'this item of the list',
  index: 'its number, from 0',
  previous: 'what the round before gave',
};

function names({ upstream, inputs, given }: Scope): Suggestion[] {
  const items = given.map((label) => ({ label, detail: GIVEN[label] ?? 'of the container' }));
  return [
    ...items,
    ...upstream.map(({ key, name }) => ({ label: `steps.${key}.output`, detail: name || 'step' })),
    ...inputs.map((name) => ({ label: `run.input.${name}`, detail: 'input' })),
    { label: 'run.input', detail: 'what the run was started with' },
    { label: 'run.number', detail: "the run's number" },
    { label: 'run.id', detail: "the run's id" },
  ];
}
