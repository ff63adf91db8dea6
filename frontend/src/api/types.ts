/**
 * What the HTTP API and the live socket say: the shapes generated from openapi.yaml, with the JSON inside made readable.
 * A change of the server's shapes shows here as a type error.
 */
import type { GraphDocument, StepKind } from '../diagram/types';
import type { Json } from '../lib/json';
import type { components } from './schema';

type S = components['schemas'];
type With<Base, More> = Omit<Base, keyof More> & More;
type JsonData = { [key: string]: Json };

export interface Page<T> {
  items: T[];
  next: string | null;
}

export type Permission = S['PermissionsEnum'];
export type WorkspaceAccess = With<S['SessionWorkspace'], { role: string }>;
export type Session = With<S['Session'], { workspaces: WorkspaceAccess[] }>;
export type Member = With<S['Member'], { role: string }>;

export type RunStatus = S['RunStatus'];
export type StepRunStatus = S['StepStatus'];
export type StepError = With<S['StepError'], { data?: Json }>;
export type RunCounts = S['Counts'];
export type Run = With<S['RunRow'], { failed_step: { path: string; error: StepError | null } | null }>;
/** A page of the runs list; `looked_back_to` where it ends because enough runs were looked at. */
export interface RunsPage extends Page<Run> {
  looked_back_to: string | null;
}
/** The step, of another run, that has started a run. */
export type ParentStep = S['ParentStep'];
/** Of a paused run: since when, by whom, and before which step where a breakpoint did it. */
export type Pause = S['Pause'];
export type Breakpoint = S['BreakpointOut'];
export type MapCounts = S['MapCounts'];
export type Step = With<S['Step'], { error: StepError | null }>;

export type RunEvent = With<S['EventOut'], { data: JsonData }>;
/** What the page of a run knows of it beside what a list does. */
export interface RunMore {
  input?: Json;
  parent?: ParentStep | null;
  pause?: Pause | null;
  breakpoints?: Breakpoint[];
  /** Of a fork: the step from which it runs again. */
  forked_at?: string | null;
}
export type Snapshot = With<S['Snapshot'], { run: Run & RunMore; graph: GraphDocument; steps: Step[] }>;
export interface EventsPage {
  items: RunEvent[];
  /** The number of the last event of this page. */
  last: number;
}

/** An input or output; of one that is too large for a page, the beginning of its text. */
export type StepValue = With<S['Value'], { value: Json }>;
/** An attempt that has ended. The one that runs now is told by the step. */
export type Attempt = With<S['AttemptOut'], { error: StepError | null; input: StepValue | null }>;
export type Artifact = S['ArtifactOut'];
export type Checkpoint = With<S['CheckpointOut'], { value: Json }>;
export type StepWait = With<S['WaitOut'], { data: JsonData; answer: Json }>;
export type StepDetail = With<
  S['StepDetail'],
  {
    step: Step;
    input: StepValue;
    output: StepValue;
    attempts: Attempt[];
    checkpoints: Checkpoint[];
    waits: StepWait[];
  }
>;
export type LogChunk = S['LogPage'];
/** Of a step run at work, or that stopped on its way: when its worker was heard, how far it got. */
export type Pulse = S['PulseOut'];
export type Usual = S['UsualOut'];

export type ResumePreview = S['Preview'];
export type Decision = S['OutcomeDecision'];
export type Answered = S['Answered'];
export type OpenWait = With<S['InboxWait'], { data: JsonData; answer: Json }>;

export type Workflow = With<S['WorkflowOut'], { last_run: With<S['LastRunOut'], { status: RunStatus }> | null }>;
export type Connection = With<S['ConnectionOut'], { settings: JsonData }>;
export type ConnectionKind = With<S['ConnectionKind'], { schema: JsonData }>;
export type Mail = S['Mail'];
/** An HTML part is never given out; `has_html` says that there is one. */
export type OpenedMail = S['OpenedMail'];

export type { GraphDocument, StepKind };
