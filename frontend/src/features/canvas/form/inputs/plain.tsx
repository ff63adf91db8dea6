import { NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';

import { parseDuration, writeDuration } from '../duration';
import type { InputProps } from './types';

export function NumberField({ field, value, onChange, readOnly, invalid }: InputProps) {
  const shown = value ?? field.default;
  return (
    <NumberInput
      aria-label={field.title}
      value={typeof shown === 'number' ? shown : typeof shown === 'bigint' ? String(shown) : ''}
      allowDecimal={!field.integer}
      min={field.minimum}
      max={field.maximum}
      clampBehavior="none"
      placeholder={field.example}
      error={invalid}
      readOnly={readOnly}
      hideControls={readOnly}
      onChange={(next) => onChange(next === '' ? undefined : Number(next))}
    />
  );
}

export function SwitchField({ field, value, onChange, readOnly }: InputProps) {
  const isOn = (value ?? field.default) === true;
  return (
    <Switch
      aria-label={field.title}
      label={isOn ? 'Yes' : 'No'}
      checked={isOn}
      disabled={readOnly}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

const inWords = (option: string): string => (/^[a-z_]+$/.test(option) ? option.replaceAll('_', ' ') : option);

export function SelectField({ field, value, onChange, readOnly, invalid }: InputProps) {
  const shown = value ?? field.default;
  return (
    <Select
      aria-label={field.title}
      data={field.options.map((option) => ({ value: option, label: field.labels[option] || inWords(option) }))}
      value={typeof shown === 'string' ? shown : null}
      allowDeselect={false}
      clearable={!field.required && field.default === undefined}
      placeholder="Choose"
      error={invalid}
      readOnly={readOnly}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

/** Seconds in the document, '1 h 30 m' to a person. */
export function DurationField({ field, value, onChange, readOnly, invalid }: InputProps) {
  const seconds = typeof value === 'number' ? value : typeof field.default === 'number' ? field.default : null;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (seconds === null ? '' : writeDuration(seconds));
  const isWrong = shown.trim() !== '' && parseDuration(shown) === null;
  return (
    <TextInput
      aria-label={field.title}
      value={shown}
      placeholder={seconds === null ? 'for instance 30 s, 5 m, 2 h' : ''}
      error={isWrong ? 'Write a duration: 500 ms, 30 s, 5 m, 2 h, 1 d.' : invalid}
      readOnly={readOnly}
      onChange={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        const parsed = parseDuration(text);
        if (text.trim() === '') onChange(undefined);
        else if (parsed !== null) onChange(parsed);
      }}
      onBlur={() => {
        if (!isWrong) setTyped(null);
      }}
    />
  );
}
