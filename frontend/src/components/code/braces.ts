/** Braces as people type them: '{{' closes itself, and what closed itself is typed over, not doubled. */
import { EditorView } from '@codemirror/view';

/** What becomes of one typed character: put in here, this much behind the cursor taken away, the cursor moved on. */
export interface Typed {
  insert: string;
  take: number;
  move: number;
}

const CLOSED = /^\s*\}\}/;

/** Null: as usual. `before` and `after` are the text on both sides of the cursor. */
export function typedBrace(before: string, after: string, text: string): Typed | null {
  if (text === '{') {
    if (!before.endsWith('{') || CLOSED.test(after)) return null;
    return { insert: '{  }}', take: 0, move: 2 };
  }
  const open = before.lastIndexOf('{{');
  if (open < 0) return null;
  const inside = before.slice(open + 2);
  if (text === ' ') return inside === ' ' && after.startsWith(' }}') ? { insert: '', take: 0, move: 0 } : null;
  return text === '}' ? closing(inside, after) : null;
}

/** A brace that ends an object inside the expression is none of the two that end the expression. */
function closing(inside: string, after: string): Typed | null {
  const depth = inside.split('{').length - inside.split('}').length;
  if (depth === -1 && inside.endsWith('}') && after.startsWith('}')) return { insert: '', take: 0, move: 1 };
  const found = depth === 0 ? CLOSED.exec(after) : null;
  if (!found) return null;
  const space = /\s$/.test(inside) ? '' : found[0].slice(0, -2);
  return { insert: `${space}}`, take: found[0].length - 1, move: space.length + 1 };
}

export const braces = EditorView.inputHandler.of((view, from, to, text) => {
  if (from !== to) return false;
  const { state } = view;
  const typed = typedBrace(state.sliceDoc(0, from), state.sliceDoc(from), text);
  if (!typed) return false;
  view.dispatch({
    changes: { from, to: from + typed.take, insert: typed.insert },
    selection: { anchor: from + typed.move },
    userEvent: 'input.type',
  });
  return true;
});
