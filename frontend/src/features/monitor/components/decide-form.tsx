import { Button, Radio, Stack } from '@mantine/core';
import { Suspense, useState } from 'react';

import type { Decision } from '../../../api/types';
import { useMay } from '../../../api/workspace';
import { LoadingRows } from '../../../components/ui/states';
import { readJson } from '../json-text';
import { usePlan } from '../plan';
import type { LiveStep } from '../reducer';
import classes from './step-panel.module.css';
import { JsonEditor } from './value-form';

interface Choice {
  value: Decision;
  label: string;
  description: string;
}

const CHOICES: readonly Choice[] = [
  {
    value: 'happened',
    label: 'It happened',
    description: 'The step counts as finished with the output that you give. Nothing runs again.',
  },
  {
    value: 'not_happened',
    label: 'It did not happen',
    description: 'It runs again, with the same idempotency key.',
  },
  {
    value: 'run_again',
    label: 'Run it again anyway',
    description: 'It may take effect twice. It gets a new idempotency key.',
  },
  {
    value: 'skip',
    label: 'Skip it',
    description: 'It is left out. Steps that need its output may be skipped as well.',
  },
];

/** An at-most-once step ended without a word. Pawl never guesses: a person says what became of it. */
export function DecideForm({ step }: { step: LiveStep }) {
  const may = useMay('run');
  const plan = usePlan();
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [output, setOutput] = useState('null');
  const [problem, setProblem] = useState<string | null>(null);
  if (!may)
    return <p className={classes.empty}>Your role may not decide. Operators, editors, admins and the owner may.</p>;
  const isShown = plan.operation?.kind === 'decide';
  const change = (text: string) => {
    setOutput(text);
    setProblem(null);
    if (isShown) plan.close(); // the plan that is shown is of another output
  };
  const show = () => {
    if (!chosen) return;
    const read = chosen.value === 'happened' ? readJson(output) : { value: null, problem: null };
    setProblem(read.problem);
    if (read.value !== undefined) {
      plan.open({ kind: 'decide', path: step.path, decision: chosen.value, output: read.value });
    }
  };
  return (
    <section className={classes.error} data-tone="amber" aria-label="Decide what happened">
      <div className={classes.advice}>
        <Radio.Group
          label="Did it take effect outside?"
          value={chosen?.value ?? ''}
          onChange={(value) => {
            setChosen(CHOICES.find((one) => one.value === value) ?? null);
            if (isShown) plan.close();
          }}
        >
          <Stack gap={8} mt={8}>
            {CHOICES.map((one) => (
              <Radio key={one.value} value={one.value} label={one.label} description={one.description} size="xs" />
            ))}
          </Stack>
        </Radio.Group>
        {chosen?.value === 'happened' ? (
          <Suspense fallback={<LoadingRows rows={2} label="Loading the editor" />}>
            <JsonEditor text={output} onChange={change} label="Its output" problems={problem ? [problem] : []} />
          </Suspense>
        ) : null}
        {isShown ? null : (
          <div className={classes.actions}>
            <Button size="xs" disabled={!chosen} onClick={show}>
              {chosen ? 'Show what it does' : 'Choose what happened'}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}
