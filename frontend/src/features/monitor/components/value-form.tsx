import { Button, Select } from '@mantine/core';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';

import type { Operation } from '../../../api/recovery';
import type { StepDetail } from '../../../api/types';
import { LoadingRows } from '../../../components/ui/states';
import { portsById } from '../../../diagram';
import { formatBytes } from '../../../lib/format';
import { fieldSentences, readJson, writeJson } from '../json-text';
import { type Draft, usePlan } from '../plan';
import type { LiveStep } from '../reducer';
import { useRunState } from '../store';
import { useKinds } from '../use-kinds';
import classes from './step-panel.module.css';

// The editor is large, and most pages of runs never need it.
export const JsonEditor = lazy(() => import('../../../components/code/json-editor'));

interface FormProps {
  step: LiveStep;
  detail: StepDetail;
}

/** A value that a person writes, and then the plan of what becomes of it. */
export function ValueForm({ step, detail }: FormProps) {
  const { draft } = usePlan();
  if (draft?.path !== step.path) return null;
  return draft.kind === 'edit_input' ? <EditInput step={step} detail={detail} /> : <SupplyOutput step={step} />;
}

/** The settings that the last attempt had; where it had none yet, those of the graph, whose expressions stay texts. */
function useFirstInput({ step, detail }: FormProps): { text: string; isOfGraph: boolean; tooLarge: number | null } {
  const config = useRunState((state) => state.graph.nodes.find((node) => node.id === step.node)?.config);
  const given = detail.override && detail.override.size > 0 ? detail.override : detail.input;
  if (given.truncated) return { text: '', isOfGraph: false, tooLarge: given.size };
  const isOfGraph = given.size === 0;
  return { text: writeJson(isOfGraph ? (config ?? {}) : given.value), isOfGraph, tooLarge: null };
}

const ALL_SETTINGS = 'All settings of the step. Nothing in them is evaluated any more: write values, not expressions.';
const OF_GRAPH =
  'No attempt has had an input yet, so these are the settings as drawn: put values where expressions are.';

function EditInput(props: FormProps) {
  const first = useFirstInput(props);
  const plan = usePlan();
  const problems = plan.operation?.kind === 'edit_input' ? fieldSentences(plan.error) : [];
  const { path } = props.step;
  if (first.tooLarge !== null) {
    return (
      <p className={classes.reason}>
        Its input holds {formatBytes(first.tooLarge)}, too much to be edited here. The API takes it.
      </p>
    );
  }
  return (
    <WriteValue
      kind="edit_input"
      label="Input of the step"
      begin={first.text}
      help={first.isOfGraph ? OF_GRAPH : ALL_SETTINGS}
      refused={problems}
      toOperation={(input) => ({ kind: 'edit_input', path, input })}
    />
  );
}

function SupplyOutput({ step }: { step: LiveStep }) {
  const graph = useRunState((state) => state.graph);
  const kinds = useKinds();
  const ports = useMemo(
    () =>
      portsById(graph, kinds.byName)
        .get(step.node)
        ?.map(({ name, title }) => ({ value: name, label: title || name })),
    [graph, kinds.byName, step.node],
  );
  const [chosen, setPort] = useState<string | null>(null);
  const { close } = usePlan();
  const port = chosen ?? ports?.[0]?.value ?? null;
  const isChoice = ports !== undefined && ports.length > 1;
  return (
    <WriteValue
      kind="supply_output"
      label="Output of the step"
      begin="{}"
      help="What steps after it read as its output. Secrets of connections are masked in it."
      refused={[]}
      toOperation={(output) => ({ kind: 'supply_output', path: step.path, output, port: isChoice ? port : null })}
    >
      {isChoice ? (
        <Select
          label="The flow goes on by"
          data={ports}
          value={port}
          allowDeselect={false}
          onChange={(value) => {
            close(); // a plan that is shown is of the other port
            setPort(value);
          }}
        />
      ) : null}
    </WriteValue>
  );
}

interface WriteProps {
  kind: Draft['kind'];
  label: string;
  begin: string;
  help: string;
  refused: readonly string[];
  toOperation: (value: NonNullable<ReturnType<typeof readJson>['value']> | null) => Operation;
  children?: React.ReactNode;
}

const TITLES = { edit_input: 'Edit the input', supply_output: 'Give the output by hand' } as const;

function WriteValue({ kind, label, begin, help, refused, toOperation, children }: WriteProps) {
  const plan = usePlan();
  const [text, setText] = useState(begin);
  const [problem, setProblem] = useState<string | null>(null);
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  const change = (next: string) => {
    setText(next);
    setProblem(null);
    if (plan.operation?.kind === kind) plan.close(); // the plan that is shown is of another value
  };
  const show = () => {
    const read = readJson(text);
    setProblem(read.problem);
    if (read.value !== undefined) plan.open(toOperation(read.value));
  };
  return (
    <section ref={section} tabIndex={-1} className={classes.form} aria-label={TITLES[kind]}>
      <h3 className={classes.formTitle}>{TITLES[kind]}</h3>
      <Suspense fallback={<LoadingRows rows={3} label="Loading the editor" />}>
        <JsonEditor text={text} onChange={change} label={label} help={help} problems={problem ? [problem] : refused} />
      </Suspense>
      {children}
      <div className={classes.actions} hidden={plan.operation?.kind === kind}>
        <Button size="xs" onClick={show}>
          Show what it does
        </Button>
        <Button size="xs" variant="default" onClick={() => plan.setDraft(null)}>
          Not now
        </Button>
      </div>
    </section>
  );
}
