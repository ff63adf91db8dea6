import { useEffect, useRef, useState } from 'react';
import { CodeEditor } from '../../../../components/code/code-editor';
import { formatJson, type Json, parseJson } from '../../../../lib/json';
import classes from '../form.module.css';
import type { InputProps } from './types';

export function CodeField({ field, value, onChange, scope, readOnly, invalid }: InputProps) {
  if (field.language === 'json' && typeof value !== 'string') {
    return <JsonField {...{ field, value, onChange, scope, readOnly, invalid }} />;
  }
  return (
    <CodeEditor
      value={typeof value === 'string' ? value : typeof field.default === 'string' ? field.default : ''}
      onChange={onChange}
      label={field.title}
      scope={scope}
      multiline
      numbers
      literal={field.literal}
      language={field.language}
      placeholder={field.example}
      readOnly={readOnly}
      invalid={invalid}
    />
  );
}

interface Read {
  value: Json | undefined;
  problem: string | null;
}

/** JSON, or plain words: what cannot be JSON's beginning is taken as a text, so that nobody has to quote a sentence. */
function read(text: string): Read {
  const trimmed = text.trim();
  if (trimmed === '') return { value: undefined, problem: null };
  try {
    return { value: parseJson(trimmed) as Json, problem: null };
  } catch (error) {
    if (!/^[[{"\d-]/.test(trimmed) || /^\{[{%]/.test(trimmed)) return { value: text, problem: null };
    return { value: undefined, problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

const write = (value: Json | undefined): string => {
  if (value === undefined) return '';
  return typeof value === 'string' && read(value).value === value ? value : formatJson(value, 2);
};

/** Any JSON value. What is typed stays as it is typed; the document gets it as soon as it can be read. */
export function JsonField({ field, value, onChange, scope, readOnly, invalid }: InputProps) {
  const shown = value === undefined && field.default !== null ? field.default : value;
  const [text, setText] = useState(() => write(shown));
  const [problem, setProblem] = useState<string | null>(null);
  const told = useRef(formatJson(shown ?? null));
  useEffect(() => {
    const now = formatJson(shown ?? null);
    if (now === told.current) return;
    told.current = now; // it came from elsewhere: undo, or another field
    setText(write(shown));
    setProblem(null);
  }, [shown]);
  const onText = (next: string) => {
    setText(next);
    const found = read(next);
    setProblem(found.problem);
    if (found.problem !== null) return;
    told.current = formatJson(found.value ?? null);
    onChange(found.value);
  };
  return (
    <>
      <CodeEditor
        value={text}
        onChange={onText}
        label={field.title}
        scope={scope}
        multiline
        literal={field.literal}
        language="json"
        placeholder={field.example}
        readOnly={readOnly}
        invalid={invalid || problem !== null}
      />
      {problem ? <p className={classes.error}>Not saved yet: {problem}</p> : null}
    </>
  );
}
