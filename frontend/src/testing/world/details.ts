import type { Attempt, RunEvent, StepValue } from '../../api/types';
import type { LiveStep } from '../../features/monitor/reducer';
import { formatJson, type Json } from '../../lib/json';
import type { Recorder } from './recorder';

const INVOICES: Json = Array.from({ length: 12 }, (_, at) => ({
  invoice_number: `INV-${20391 + at * 3}`,
  supplier: ['Kessler Metall', 'Borealis Paper', 'Finch & Sons', 'Orto Verde'][at % 4] ?? '',
  po_number: `PO-${7702 + at}`,
  net: (812.5 + at * 137.25).toFixed(2),
  currency: 'EUR',
  account: 900719925474099300n + BigInt(at),
}));

export function asValue(value: Json): StepValue {
  return { value, size: value === null ? 0 : formatJson(value).length, truncated: false };
}

export function inputOf(step: LiveStep): Json {
  if (step.status === 'pending') return null;
  const inputs: { [key: string]: Json } = {
    fetch: { method: 'GET', url: '/batches/2026-03', connection: 'sample-api' },
    compliance: { method: 'POST', url: '/compliance/check', connection: 'sample-api', body: { documents: INVOICES } },
    corrections: { invoices: INVOICES, answer: { decision: 'approved', by: 'Ana', comment: '' } },
  };
  return inputs[step.key] ?? { batch: '2026-03', attempt_input: step.path };
}

export function outputOf(step: LiveStep): Json {
  const outputs: { [key: string]: Json } = {
    fetch: { status: 200, body: { batch: '2026-03', documents: INVOICES } },
    corrections: { documents: INVOICES, corrected: ['INV-20391', 'INV-20394'] },
    review: { decision: 'approved', by: 'Ana', comment: 'Fine.' },
  };
  return outputs[step.key] ?? { ok: true, pages: 1, confidence: 0.984 };
}

const OUTCOMES: { [type: string]: Attempt['outcome'] } = {
  'step.succeeded': 'succeeded',
  'step.failed': 'failed',
  'step.retry_wait': 'failed',
  'step.needs_decision': 'lost',
  'step.cancelled': 'cancelled',
};

function beginning(event: RunEvent): Attempt {
  return {
    number: event.attempt ?? 1,
    fence: Number(event.data.fence),
    outcome: 'lost',
    ready_at: event.at,
    started_at: event.at,
    finished_at: '',
    error: null,
    input: null,
    worker: 'worker-1:3f2a',
  };
}

/** The ended attempts that the events of a step tell of. */
export function attemptsOf(run: Recorder, path: string): Attempt[] {
  const attempts: Attempt[] = [];
  for (const event of run.events.filter((one) => one.path === path)) {
    if (event.type === 'step.running') attempts.push(beginning(event));
    const last = attempts.at(-1);
    const outcome = OUTCOMES[event.type];
    if (last?.finished_at !== '' || !outcome) continue;
    const error = (event.data.error as unknown as Attempt['error']) ?? null;
    Object.assign(last, { outcome, finished_at: event.at, error });
  }
  return attempts.filter((one) => one.finished_at !== '');
}

export function logOf(path: string, attempt: number): string {
  const key = path.split('.').at(-1) ?? path;
  return [
    `12:04:18.011  ${key}: attempt ${attempt} begins, limit 60 s`,
    '12:04:18.022  POST http://127.0.0.1:8765/compliance/check  (idempotency key 7f3a10c1d)',
    '12:04:18.025  sending 12 documents, 48.2 kB',
    '12:04:20.114  503 Service Unavailable',
    '12:04:20.115  {"error": "policy service is being updated"}',
    `12:04:20.118  ${key}: attempt ${attempt} failed after 2.1 s`,
    '',
  ].join('\n');
}
