import { TextInput } from '@mantine/core';

import { CodeEditor } from '../../../../components/code/code-editor';
import type { InputProps } from './types';

const asText = (value: InputProps['value']): string =>
  typeof value === 'string' ? value : value == null ? '' : String(value);

/** A text with expressions in it, on one line or several. */
export function TemplateInput({ field, value, onChange, scope, readOnly, invalid }: InputProps) {
  const onText = (text: string) => onChange(text === '' && !field.required ? undefined : text);
  return (
    <CodeEditor
      value={asText(value ?? field.default)}
      onChange={onText}
      label={field.title}
      scope={scope}
      multiline={field.widget === 'textarea'}
      literal={field.literal}
      placeholder={field.example}
      readOnly={readOnly}
      invalid={invalid}
    />
  );
}

/** A moment as text, because it may be an expression, with the picker of the browser beside it. */
export function DateTimeInput({ field, value, onChange, readOnly, invalid }: InputProps) {
  const text = asText(value);
  const local = text ? text.slice(0, 16) : '';
  return (
    <TextInput
      type="datetime-local"
      aria-label={field.title}
      value={local}
      error={invalid}
      readOnly={readOnly}
      onChange={(event) => {
        const picked = event.currentTarget.value;
        onChange(picked === '' ? undefined : `${picked}:00${offsetOf(new Date(picked))}`);
      }}
    />
  );
}

function offsetOf(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const two = (n: number) => String(Math.abs(n)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
