import { Button, Radio, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';

import type { Decision } from '../../../api/types';
import { useMay } from '../../../api/workspace';
import { formatJson, type Json, parseJson } from '../../../lib/json';
import { useDecide } from '../commands';
import type { LiveStep } from '../reducer';
import classes from './step-panel.module.css';

interface Choice {
  value: Decision;
  label: string;
  description: string;
  button: string;
}

const CHOICES: readonly Choice[] = [
  {
    value: 'happened',
    label: 'It happened',
    description: 'The step counts as finished with the output that you give. Nothing runs again.',
    button: 'Take it as finished',
  },
  {
    value: 'not_happened',
    label: 'It did not happen',
    description: 'It runs again, with the same idempotency key.',
    button: 'Run it, since it did not happen',
  },
  {
    value: 'run_again',
    label: 'Run it again anyway',
    description: 'It may take effect twice. It gets a new idempotency key.',
    button: 'Run it again, maybe twice',
  },
  {
    value: 'skip',
    label: 'Skip it',
    description: 'It is left out. Steps that need its output may be skipped as well.',
    button: 'Skip this step',
  },
];

/** An at-most-once step ended without a word. Pawl never guesses: a person says what became of it. */
export function DecideForm({ step }: { step: LiveStep }) {
  const may = useMay('run');
  const decide = useDecide(step.path);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [output, setOutput] = useState('null');
  const [problem, setProblem] = useState('');
  const confirm = () => {
    if (!chosen) return;
    if (chosen.value !== 'happened') return decide.mutate({ decision: chosen.value });
    try {
      decide.mutate({ decision: chosen.value, output: parseJson(output) as Json });
    } catch (error) {
      setProblem(`This is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
    }
  };
  if (!may)
    return <p className={classes.empty}>Your role may not decide. Operators, editors, admins and the owner may.</p>;
  return (
    <section className={classes.error} data-tone="amber" aria-label="Decide what happened">
      <div className={classes.advice}>
        <Radio.Group
          label="Did it take effect outside?"
          value={chosen?.value ?? ''}
          onChange={(value) => setChosen(CHOICES.find((one) => one.value === value) ?? null)}
        >
          <Stack gap={8} mt={8}>
            {CHOICES.map((one) => (
              <Radio key={one.value} value={one.value} label={one.label} description={one.description} size="xs" />
            ))}
          </Stack>
        </Radio.Group>
        {chosen?.value === 'happened' ? (
          <Textarea
            label="Its output, as JSON"
            value={output}
            onChange={(event) => setOutput(event.currentTarget.value)}
            onBlur={() => tidy(output, setOutput)}
            error={problem}
            autosize
            minRows={2}
            styles={{ input: { fontFamily: 'var(--pawl-mono)' } }}
          />
        ) : null}
        <div className={classes.actions}>
          <Button
            disabled={!chosen}
            loading={decide.isPending}
            color={chosen?.value === 'run_again' ? 'orange.8' : undefined}
            onClick={confirm}
          >
            {chosen?.button ?? 'Choose what happened'}
          </Button>
        </div>
      </div>
    </section>
  );
}

function tidy(text: string, set: (text: string) => void): void {
  try {
    set(formatJson(parseJson(text), 2));
  } catch {
    // It stays as it was typed; the button tells what is wrong with it.
  }
}
