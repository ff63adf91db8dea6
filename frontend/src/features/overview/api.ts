import { request } from '../../api/client';
import type { components } from '../../api/schema';

type S = components['schemas'];

export type Overview = S['OverviewOut'];
export type Column = S['Column'];
export type Lane = S['LaneNow'];
export type WorkflowSums = S['WorkflowSums'];
export type FailedStep = S['FailedStepSums'];
export type PeriodName = Overview['period'];

interface Call {
  signal?: AbortSignal | undefined;
}

export const readOverview = (ws: string, period: PeriodName, workflow: string | undefined, { signal }: Call = {}) =>
  request<Overview>(`/workspaces/${encodeURIComponent(ws)}/overview`, { query: { period, workflow }, signal });

export const overviewKey = (ws: string, period: PeriodName, workflow: string | undefined) =>
  ['ws', ws, 'overview', period, workflow ?? ''] as const;
