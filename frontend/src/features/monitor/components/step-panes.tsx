import { Tabs } from '@mantine/core';

import type { StepDetail, StepValue } from '../../../api/types';
import { JsonView } from '../../../components/ui/json-view';
import { formatBytes } from '../../../lib/format';
import type { LiveStep } from '../reducer';
import { PANES, type Pane, useSelection } from '../selection';
import { CheckpointsPane } from './checkpoints-pane';
import { LogView } from './log-view';
import classes from './step-panel.module.css';

const PANE_NAMES: Readonly<Record<Pane, string>> = {
  input: 'Input',
  output: 'Output',
  logs: 'Logs',
  partial: 'Partial',
};

/** What is most worth seeing first: the output of what finished, the log of what runs, else what it was given. */
function firstPane(step: LiveStep): Pane {
  if (step.status === 'succeeded') return 'output';
  return step.status === 'running' ? 'logs' : 'input';
}

function noOutput(step: LiveStep): string {
  return step.status === 'succeeded'
    ? 'It finished without an output.'
    : 'No output: no attempt has committed a result.';
}

/** An attempt tells its input before its body begins, and the page has it once the attempt has ended. */
function noInput(attempt: number): string {
  return attempt === 0
    ? 'It has no input yet: no attempt has begun.'
    : 'No input is kept yet: it is shown once the attempt has ended.';
}

/** Input, output, log and partial results of the attempt that is looked at. */
export function StepPanes({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const { pane, setPane, attempt } = useSelection();
  const number = attempt ?? step.attempt;
  const partials = detail.checkpoints.length + detail.artifacts.length;
  const given = detail.attempts.find((one) => one.number === attempt)?.input ?? detail.input;
  return (
    <Tabs value={pane ?? firstPane(step)} onChange={(value) => value && setPane(value as Pane)} keepMounted={false}>
      <Tabs.List mb={12}>
        {PANES.map((one) => (
          <Tabs.Tab key={one} value={one} px={12} py={7} fz={13}>
            {PANE_NAMES[one]}
            {one === 'partial' && partials > 0 ? ` ${partials}` : ''}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="input">
        <ValuePane given={given} label="input" empty={noInput(number)} />
      </Tabs.Panel>
      <Tabs.Panel value="output">
        <ValuePane given={detail.output} label="output" empty={noOutput(step)} />
      </Tabs.Panel>
      <Tabs.Panel value="logs">
        {number === 0 ? (
          <p className={classes.empty}>No attempt has begun, so there is no log.</p>
        ) : (
          <LogView path={step.path} attempt={number} />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="partial">
        <CheckpointsPane checkpoints={detail.checkpoints} artifacts={detail.artifacts} />
      </Tabs.Panel>
    </Tabs>
  );
}

function ValuePane({ given, label, empty }: { given: StepValue; label: string; empty: string }) {
  if (given.size === 0) return <p className={classes.empty}>{empty}</p>;
  return (
    <>
      {given.truncated ? (
        <p className={classes.empty}>It holds {formatBytes(given.size)}; this is the beginning of its text.</p>
      ) : null}
      <JsonView value={given.value} label={label} />
    </>
  );
}
