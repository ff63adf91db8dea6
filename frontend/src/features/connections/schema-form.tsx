import { NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';

import { isObject, type Json, type JsonObject } from '../../lib/json';

export interface FieldSpec {
  name: string;
  title: string;
  description: string;
  isSecret: boolean;
  isRequired: boolean;
  type: 'text' | 'number' | 'flag' | 'choice' | 'pairs';
  choices: string[];
  initial: Json;
  example: string;
}

/** Reads the fields of a settings schema, as far as connections use JSON Schema. */
export function readFields(schema: JsonObject, secrets: readonly string[]): FieldSpec[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = isObject(value) ? value : {};
    const examples = Array.isArray(property.examples) ? property.examples : [];
    return {
      name,
      title: typeof property.title === 'string' ? property.title : name,
      description: typeof property.description === 'string' ? property.description : '',
      isSecret: secrets.includes(name),
      isRequired: required.includes(name),
      type: typeOf(property),
      choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
      initial: property.default ?? null,
      example: examples.length > 0 ? String(examples[0]) : '',
    };
  });
}

function typeOf(property: JsonObject): FieldSpec['type'] {
  if (Array.isArray(property.enum)) return 'choice';
  if (property.type === 'integer' || property.type === 'number') return 'number';
  if (property.type === 'boolean') return 'flag';
  return property.type === 'object' ? 'pairs' : 'text';
}

export const pairsToText = (value: Json): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}: ${String(one)}`)
        .join('\n')
    : '';

export function textToPairs(text: string): JsonObject {
  const pairs: JsonObject = {};
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) pairs[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return pairs;
}

interface FieldProps {
  field: FieldSpec;
  value: Json | undefined;
  error: string | undefined;
  /** The secret holds something on the server; leaving the field empty keeps it. */
  isKept: boolean;
  onChange: (value: Json | undefined) => void;
}

/** One field of a connection's settings. A secret goes in and is never shown again. */
export function SettingsField({ field, value, error, isKept, onChange }: FieldProps) {
  const common = { label: field.title, description: field.description || undefined, error, required: field.isRequired };
  const kept = isKept ? 'kept; type to replace it' : field.example;
  if (field.type === 'choice') {
    return (
      <Select
        {...common}
        data={field.choices}
        value={String(value ?? '')}
        onChange={(one) => onChange(one)}
        allowDeselect={false}
      />
    );
  }
  if (field.type === 'number') {
    return <NumberInput {...common} value={Number(value)} onChange={(one) => onChange(one)} hideControls />;
  }
  if (field.type === 'flag') {
    return (
      <Switch
        label={field.title}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  }
  if (field.type === 'pairs') {
    return (
      <Textarea
        {...common}
        description="One a line, as 'Name: value'."
        placeholder={isKept ? kept : 'X-Api-Key: …'}
        autosize
        minRows={2}
        defaultValue={pairsToText(value ?? null)}
        onChange={(event) =>
          onChange(event.currentTarget.value.trim() ? textToPairs(event.currentTarget.value) : undefined)
        }
      />
    );
  }
  const Input = field.isSecret ? PasswordInput : TextInput;
  return (
    <Input
      {...common}
      placeholder={kept}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) =>
        onChange(field.isSecret && !event.currentTarget.value ? undefined : event.currentTarget.value)
      }
      autoComplete={field.isSecret ? 'new-password' : 'off'}
    />
  );
}
