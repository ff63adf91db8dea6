import type { LanguageSupport } from '@codemirror/language';
import { EditorState, Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef, useState } from 'react';

import { readStyleNonce } from '../../lib/style-nonce';
import classes from './code.module.css';
import { extensionsOf, loadLanguage } from './codemirror';
import { NO_SCOPE, type Scope } from './completion';

export interface CodeEditorProps {
  value: string;
  onChange: (text: string) => void;
  label: string;
  scope?: Scope;
  multiline?: boolean;
  /** No expression in it is evaluated. */
  literal?: boolean;
  language?: string;
  numbers?: boolean;
  placeholder?: string;
  readOnly?: boolean;
  invalid?: boolean;
}

function useLanguage(name: string | undefined): LanguageSupport | null | 'loading' {
  const [language, setLanguage] = useState<LanguageSupport | null | 'loading'>(name ? 'loading' : null);
  useEffect(() => {
    let isGone = false;
    void loadLanguage(name ?? '').then((loaded) => {
      if (!isGone) setLanguage(loaded);
    });
    return () => {
      isGone = true;
    };
  }, [name]);
  return language;
}

/** A CodeMirror that follows `value` without losing the cursor, and tells what is typed. */
export function CodeEditor(props: CodeEditorProps) {
  const {
    value,
    label,
    multiline = false,
    literal = false,
    numbers = false,
    placeholder = '',
    readOnly = false,
  } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const language = useLanguage(props.language);
  useEffect(() => {
    if (!host.current || language === 'loading') return;
    const extensions = extensionsOf({
      scope: () => latest.current.scope ?? NO_SCOPE,
      onChange: (text) => latest.current.onChange(text),
      ...{ multiline, literal, language, numbers, placeholder, label, readOnly, nonce: readStyleNonce() },
    });
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc: latest.current.value, extensions }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [language, multiline, literal, numbers, placeholder, label, readOnly]);
  useEffect(() => {
    const editor = view.current;
    const present = editor?.state.doc.toString();
    if (!editor || present === value) return;
    editor.dispatch({
      changes: { from: 0, to: present?.length ?? 0, insert: value },
      annotations: Transaction.addToHistory.of(false),
    });
  }, [value]);
  return <div ref={host} className={classes.editor} data-multiline={multiline} data-invalid={props.invalid} />;
}
