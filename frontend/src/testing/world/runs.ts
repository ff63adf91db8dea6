import { Recorder, type RunSeed } from './recorder';

const UNAVAILABLE = {
  code: 'http_status',
  message: 'PolicyServiceUnavailable: POST /compliance/check answered 503 Service Unavailable after 2.1 s.',
};
const BODY = ['download', 'read', 'extract'] as const;

/** Start, fetch and parse. */
function opening(seed: RunSeed): Recorder {
  const run = new Recorder(seed).step('start', 0.004).step('fetch', 1.24).step('parse', 0.081);
  run.begin('ocr_documents');
  run.after(0.02).tell('step.waiting', 'ocr_documents', { wait: 'children', total: 40 });
  return run;
}

interface MapPlan {
  done: number;
  failed?: readonly number[];
}

/** Plays the items of the map one after another; `done` of the 40 are settled. */
function items(run: Recorder, { done, failed = [] }: MapPlan): Recorder {
  for (let index = 0; index < done; index += 1) {
    const isBad = failed.includes(index);
    for (const key of BODY) {
      const path = `ocr_documents[${index}].${key}`;
      run.begin(path);
      if (isBad && key === 'read') {
        const error = { code: 'not_readable', message: `scan-${index}.pdf: page 1 holds no text that could be read.` };
        run.after(0.4).tell('step.failed', path, { error, duration_ms: 400 });
        break;
      }
      run.succeed(path, key === 'read' ? 0.9 + (index % 7) / 10 : 0.08);
    }
    run.tell('map.progress', 'ocr_documents', {
      total: 40,
      opened: Math.min(40, index + 5),
      settled: index + 1,
      failed: failed.filter((one) => one <= index).length,
    });
  }
  return run;
}

function closeMap(run: Recorder): Recorder {
  run.tell('step.succeeded', 'ocr_documents', { port: 'out', duration_ms: 48_200, origin: 'executed' });
  return run;
}

/** Up to the review, which is asked but not answered. */
function untilReview(seed: RunSeed): Recorder {
  const run = closeMap(items(opening(seed), { done: 40 }))
    .step('cross_reference', 0.21)
    .step('report', 0.94);
  run.begin('review').after(0.01).tell('step.waiting', 'review', { wait: 'approval' });
  return run;
}

function untilCompliance(seed: RunSeed): Recorder {
  const run = untilReview(seed).after(95);
  run.tell('step.succeeded', 'review', { port: 'approved', duration_ms: 95_010, origin: 'executed' });
  run.tell('step.skipped', 'rejected', { reason: 'not_taken' });
  return run.step('corrections', 0.38);
}

const LAST = ['format', 'upload', 'notify', 'archive', 'output'] as const;

export function failedRun(seed: RunSeed): Recorder {
  const run = untilCompliance(seed);
  run.begin('compliance');
  run.after(2.1).tell('step.retry_wait', 'compliance', { error: UNAVAILABLE, delay_s: 8 });
  run.after(8).begin('compliance', 2);
  run.after(2.1).tell('step.failed', 'compliance', { error: UNAVAILABLE, duration_ms: 2104 });
  for (const path of LAST) run.tell('step.skipped', path, { reason: 'upstream_failed' });
  run.tell('run.failed', null, { generation: 1, error: UNAVAILABLE });
  return run;
}

export function succeededRun(seed: RunSeed): Recorder {
  const run = untilCompliance(seed).step('compliance', 0.61);
  for (const path of LAST) run.step(path, 0.3);
  run.tell('run.succeeded', null, { generation: 1 });
  return run;
}

export function waitingRun(seed: RunSeed): Recorder {
  return untilReview(seed);
}

export function runningRun(seed: RunSeed): Recorder {
  const run = items(opening(seed), { done: 17 });
  for (const index of [17, 18, 19, 20]) {
    run.step(`ocr_documents[${index}].download`, 0.05).begin(`ocr_documents[${index}].read`);
  }
  return run;
}

export function brokenMapRun(seed: RunSeed): Recorder {
  const run = items(opening(seed), { done: 40, failed: [6, 22, 31] });
  const error = { code: 'items_failed', message: '3 of 40 items failed.' };
  run.tell('step.failed', 'ocr_documents', { error, duration_ms: 52_000 });
  run.tell('run.failed', null, { generation: 1, error });
  return run;
}

export function undecidedRun(seed: RunSeed): Recorder {
  const run = untilCompliance(seed).step('compliance', 0.6).step('format', 0.3).step('upload', 0.4);
  run.begin('notify');
  const error = { code: 'crashed', message: 'The worker was lost while the step ran.' };
  run.after(3).tell('step.needs_decision', 'notify', { error, reason: 'unknown_outcome' });
  return run;
}

export function cancelledRun(seed: RunSeed): Recorder {
  const run = items(opening(seed), { done: 8 });
  run.tell('run.cancelling', null, {});
  run.tell('step.cancelled', 'ocr_documents', { reason: 'by_person' });
  run.tell('run.cancelled', null, {});
  return run;
}
