import { ActionIcon, Tabs, Tooltip } from '@mantine/core';
import { IconInfoCircle, IconX } from '@tabler/icons-react';

import type { StepDetail } from '../../../api/types';
import { JsonView } from '../../../components/ui/json-view';
import { ErrorState, LoadingRows } from '../../../components/ui/states';
import { StatusBadge } from '../../../diagram';
import { shownStatus, statusSentence } from '../node-status';
import type { LiveStep } from '../reducer';
import { PANES, type Pane, useSelection } from '../selection';
import { useRunState } from '../store';
import { nameOf } from '../summary';
import { useStepDetail } from '../use-step';
import { AttemptChips } from './attempt-chips';
import { CheckpointsPane } from './checkpoints-pane';
import { ErrorBox } from './error-box';
import { LogView } from './log-view';
import { MapItems } from './map-items';
import { StepActions } from './step-actions';
import { StepFacts } from './step-facts';
import classes from './step-panel.module.css';

const PANE_NAMES: Readonly<Record<Pane, string>> = {
  input: 'Input',
  output: 'Output',
  logs: 'Logs',
  partial: 'Partial',
};

/** Everything of one step run. */
export function StepPanel({ path }: { path: string }) {
  const live = useRunState((state) => state.steps.get(path));
  const graph = useRunState((state) => state.graph);
  const { selectStep } = useSelection();
  const detail = useStepDetail(path);
  const step = live ?? detail.data?.step;
  return (
    <aside className={classes.panel} aria-label={`Step ${nameOf(graph, path)}`}>
      <header className={classes.head}>
        <div className={classes.titleRow}>
          <div className={classes.titles}>
            <h2 className={classes.title}>{nameOf(graph, path)}</h2>
            <span className={classes.path}>{path}</span>
          </div>
          <Tooltip label="Close (Esc)">
            <ActionIcon onClick={() => selectStep(null)} aria-label="Close the step">
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
        {step ? <StatusLine step={step} attempts={detail.data?.attempts ?? []} /> : null}
      </header>
      {detail.error && !detail.data ? (
        <ErrorState compact error={detail.error} what="this step" onRetry={detail.refetch} />
      ) : null}
      {detail.isPending ? <LoadingRows label="Loading the step" rows={5} /> : null}
      {step && detail.data ? <Body step={step} detail={detail.data} /> : null}
    </aside>
  );
}

function StatusLine({ step, attempts }: { step: LiveStep; attempts: StepDetail['attempts'] }) {
  return (
    <>
      <div className={classes.statusRow}>
        <StatusBadge status={shownStatus(step)} sentence={statusSentence(step)} />
        {step.origin === 'manual' ? <span>manual</span> : null}
        <AttemptChips attempts={attempts} current={step.attempt} />
      </div>
      <p className={classes.sentence}>{statusSentence(step)}</p>
    </>
  );
}

function Body({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const { attempt } = useSelection();
  const chosen = detail.attempts.find((one) => one.number === attempt);
  const isPast = chosen !== undefined && chosen.number !== step.attempt;
  const error = isPast ? chosen.error : (step.error ?? chosen?.error ?? null);
  return (
    <div className={classes.body}>
      {error ? <ErrorBox error={error} isFinal={step.status === 'failed' && !isPast} /> : null}
      <StepActions step={step} waits={detail.waits} />
      {detail.why ? (
        <div className={classes.why}>
          <IconInfoCircle size={15} aria-hidden="true" />
          <span>{detail.why}</span>
        </div>
      ) : null}
      {step.map ? <MapItems step={step} /> : null}
      <Panes step={step} detail={detail} />
      <StepFacts step={step} attempt={chosen ?? detail.attempts.at(-1)} waits={detail.waits} />
    </div>
  );
}

/** What is most worth seeing first: the log of what failed, the output of what finished. */
function firstPane(step: LiveStep): Pane {
  if (step.status === 'succeeded') return 'output';
  return step.status === 'running' ? 'logs' : 'input';
}

function Panes({ step, detail }: { step: LiveStep; detail: StepDetail }) {
  const { pane, setPane, attempt } = useSelection();
  const shown = pane ?? firstPane(step);
  const number = attempt ?? detail.attempts.at(-1)?.number ?? null;
  const partials = detail.checkpoints.length;
  return (
    <Tabs value={shown} onChange={(value) => value && setPane(value as Pane)} keepMounted={false}>
      <Tabs.List mb={12}>
        {PANES.map((one) => (
          <Tabs.Tab key={one} value={one} px={12} py={7} fz={13}>
            {PANE_NAMES[one]}
            {one === 'partial' && partials > 0 ? ` ${partials}` : ''}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="input">
        <ValuePane value={detail.input} label="input" empty="It has no input: nothing was worked out for it yet." />
      </Tabs.Panel>
      <Tabs.Panel value="output">
        <ValuePane value={detail.output} label="output" empty={noOutput(step)} />
      </Tabs.Panel>
      <Tabs.Panel value="logs">
        {number === null ? (
          <p className={classes.empty}>No attempt has begun, so there is no log.</p>
        ) : (
          <LogView path={step.path} attempt={number} />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="partial">
        <CheckpointsPane checkpoints={detail.checkpoints} />
      </Tabs.Panel>
    </Tabs>
  );
}

function noOutput(step: LiveStep): string {
  return step.status === 'succeeded'
    ? 'It finished without an output.'
    : 'No output: no attempt has committed a result.';
}

function ValuePane({ value, label, empty }: { value: StepDetail['input']; label: string; empty: string }) {
  if (value === null || value === undefined) return <p className={classes.empty}>{empty}</p>;
  return <JsonView value={value} label={label} />;
}
