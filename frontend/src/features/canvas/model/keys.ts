import type { GraphDocument } from '../../../diagram';

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words that an expression reads as something else. */
const TAKEN = new Set(['run', 'steps', 'item', 'index', 'previous', 'true', 'false', 'none', 'True', 'False', 'None']);
const LONGEST = 64;

/** Why a key cannot be used, in a sentence; null where it can. */
export function whyNotKey(key: string, others: ReadonlySet<string>): string | null {
  if (key === '') return 'A step needs a key: expressions call it by this name.';
  if (!KEY.test(key)) return 'Letters, digits and _ only, not starting with a digit, so that expressions can say it.';
  if (key.length > LONGEST) return `At most ${LONGEST} characters.`;
  if (TAKEN.has(key)) return `'${key}' already means something in expressions.`;
  return others.has(key) ? `Another step is called '${key}'.` : null;
}

export function keysOf(document: GraphDocument, except?: string): Set<string> {
  return new Set(document.nodes.filter((node) => node.id !== except).map((node) => node.key));
}

/** A key near the wish that nobody in `taken` has: fetch, fetch_2, fetch_3. */
export function uniqueKey(wish: string, taken: ReadonlySet<string>): string {
  const cleaned = wish
    .trim()
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(\d)/, '_$1');
  const base = (cleaned || 'step').slice(0, LONGEST - 4);
  if (whyNotKey(base, taken) === null) return base;
  const stem = base.replace(/_\d+$/, '') || 'step';
  let count = 2;
  while (taken.has(`${stem}_${count}`)) count += 1;
  return `${stem}_${count}`;
}
