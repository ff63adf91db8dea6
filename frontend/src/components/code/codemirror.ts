/** The editor of expressions, code and JSON: one look, styles by nonce, languages loaded when they are met. */
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  type LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  MatchDecorator,
  placeholder as placeholderOf,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

import { braces } from './braces';
import { complete, type Scope } from './completion';

const look = EditorView.theme({
  '&': { fontSize: '12.5px', backgroundColor: 'transparent', color: 'var(--pawl-text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--pawl-mono)', lineHeight: '19px' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--pawl-text)' },
  '.cm-line': { padding: '0 9px' },
  '.cm-cursor': { borderLeftColor: 'var(--pawl-text)' },
  '.cm-placeholder': { color: 'var(--pawl-text-3)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--pawl-accent) 24%, transparent)',
  },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--pawl-text-3)', border: 'none', fontSize: '11px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--pawl-text-3) 9%, transparent)' },
  '.cm-expression': {
    color: 'var(--pawl-accent-text)',
    backgroundColor: 'var(--pawl-accent-soft)',
    borderRadius: '3px',
    padding: '1px 0',
  },
  '.cm-tooltip': {
    border: '1px solid var(--pawl-line-strong)',
    borderRadius: '8px',
    backgroundColor: 'var(--pawl-surface)',
    boxShadow: 'var(--pawl-shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--pawl-mono)', maxHeight: '220px', maxWidth: '420px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 12px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--pawl-accent-soft)',
    color: 'var(--pawl-text)',
  },
  '.cm-completionDetail': {
    color: 'var(--pawl-text-2)',
    fontStyle: 'normal',
    fontFamily: 'var(--pawl-font)',
    marginLeft: '12px',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--pawl-accent-text)', fontWeight: '600' },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: 'var(--status-waiting)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--status-succeeded)' },
  { tag: [tags.number, tags.literal], color: 'var(--status-retrying)' },
  { tag: [tags.comment], color: 'var(--pawl-text-3)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: 'var(--status-running)' },
  { tag: [tags.function(tags.variableName), tags.tagName], color: 'var(--status-reused)' },
]);

const mark = new MatchDecorator({
  regexp: /\{\{.*?\}\}|\{%.*?%\}/g,
  decoration: Decoration.mark({ class: 'cm-expression' }),
});

/** Marks {{ ... }} wherever it stands. */
const expressions = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = mark.createDeco(view);
    }
    update(update: ViewUpdate): void {
      this.decorations = mark.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function completer(scope: () => Scope) {
  return ({ state, pos }: CompletionContext): CompletionResult | null => {
    const found = complete(state.sliceDoc(Math.max(0, pos - 2000), pos), scope());
    if (!found || found.options.length === 0) return null;
    const options = found.options.map((one, at) => ({ ...one, type: 'variable', boost: -at }));
    return { from: pos - found.typed, options, filter: false };
  };
}

export interface EditorSetup {
  scope: () => Scope;
  multiline: boolean;
  literal: boolean;
  language: LanguageSupport | null;
  numbers: boolean;
  placeholder: string;
  nonce: string;
  label: string;
  readOnly: boolean;
  onChange: (text: string) => void;
}

const ONE_LINE = EditorState.transactionFilter.of((tr) => (tr.newDoc.lines > 1 ? [] : tr));
const flat = EditorView.clipboardInputFilter.of((text) => text.replace(/\s*\n\s*/g, ' '));

export function extensionsOf(setup: EditorSetup): Extension[] {
  const { multiline, literal, language, numbers, placeholder, nonce, label, readOnly } = setup;
  return [
    EditorView.cspNonce.of(nonce),
    look,
    syntaxHighlighting(colours),
    history(),
    Prec.high(keymap.of([{ key: 'Tab', run: acceptCompletion }])),
    // Tab indents code alone: elsewhere it leads on to the next field, as a hand without a mouse needs it.
    keymap.of([...(language && numbers ? [indentWithTab] : []), ...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
    multiline ? EditorView.lineWrapping : [ONE_LINE, flat],
    literal ? [] : [expressions, braces, autocompletion({ override: [completer(setup.scope)], icons: false })],
    language ? [language, indentOnInput(), bracketMatching()] : [],
    numbers ? [lineNumbers(), highlightActiveLine()] : [],
    placeholder ? placeholderOf(placeholder) : [],
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) setup.onChange(update.state.doc.toString());
    }),
  ];
}

export async function loadLanguage(name: string): Promise<LanguageSupport | null> {
  switch (name) {
    case 'python':
      return (await import('@codemirror/lang-python')).python();
    case 'sql':
      return (await import('@codemirror/lang-sql')).sql();
    case 'json':
      return (await import('@codemirror/lang-json')).json();
    case 'html':
      return (await import('@codemirror/lang-html')).html();
    default:
      return null;
  }
}
