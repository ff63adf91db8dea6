import { http, type RequestHandler } from 'msw';

import type { Operation } from '../../api/recovery';
import type { ResumePreview } from '../../api/types';
import { isObject, parseJson } from '../../lib/json';
import { api, json, missing, problem, text } from './answers';
import type { Recorder } from './recorder';
import { failedRun } from './runs';
import type { World } from './world';

/** What followed a failed step and was not reached. */
const behind = (run: Recorder): string[] =>
  [...run.state.steps.values()].filter((step) => step.reason === 'upstream_failed').map((step) => step.path);

const FATE: Readonly<Record<string, [ResumePreview['nodes'][number]['action'], string]>> = {
  again: ['again', 'It was chosen to run again from here.'],
  kept: ['kept', 'It had finished, and nothing that it needs is different.'],
};

/** As the server's: what runs because of it; the token stands for just that. */
function previewOf(world: World, run: Recorder, asked: { [key: string]: unknown }): ResumePreview {
  const resume = world.preview(run);
  if (asked.operation === 'resume') return resume;
  const path = String(asked.path);
  const isGivenUp = asked.operation === 'skip' || asked.operation === 'supply_output';
  const again = [...(isGivenUp ? [] : [path]), ...behind(run).filter((one) => one !== path)];
  const kept = resume.kept.filter((one) => one !== path);
  const fates =
    asked.operation === 'fork' ? [...again.map((key) => [key, 'again']), ...kept.map((key) => [key, 'kept'])] : [];
  return {
    ...resume,
    kept,
    again,
    plan: `${asked.operation}:${again.join()}:${asked.version ?? ''}`,
    effects: resume.effects.map((one) => ({
      ...one,
      may_happen_twice: asked.operation === 'fork' && !asked.same_effects,
    })),
    nodes: fates.map(([key = '', fate = 'kept']) => {
      const [action, reason] = FATE[fate] ?? ['kept', ''];
      return { key, action, reason };
    }),
    allowed: true,
    refusal: null,
  };
}

const NOT_AN_URL = { field: 'input.url', message: 'Input should be a valid string' };

/** What the acts do, as far as a page can tell. */
const ACTS: { [door: string]: (run: Recorder, path: string) => void } = {
  skip: (run, path) => {
    run.tell('step.skipped', path, { reason: 'by_person' });
    goOn(run);
  },
  supply: (run, path) => {
    run.tell('step.succeeded', path, { port: 'out', origin: 'manual' });
    goOn(run);
  },
  'edit-input': (run, path) => goOn(run, path),
  'retry-now': (run, path) => run.tell('step.ready', path),
  decide: (run, path) => {
    run.tell('step.succeeded', path, { port: 'out', origin: 'manual' });
    run.tell('step.ready', 'archive');
  },
};

function goOn(run: Recorder, from?: string): void {
  run.tell('run.running', null, { generation: run.run.generation + 1 });
  const [first, ...rest] = [...(from ? [from] : []), ...behind(run)];
  if (first) run.tell('step.ready', first);
  for (const path of rest) run.tell('step.pending', path);
}

const CHANGED = 'The run went on meanwhile, so this would do something else than the plan says. Look again.';

export function createRecoveryHandlers(world: World): RequestHandler[] {
  const withRun = (id: unknown, answer: (run: Recorder) => Response): Response => {
    const run = world.find(text(id));
    return run ? answer(run) : missing();
  };
  const bodyOf = async (request: Request) => parseJson(await request.text()) as { [key: string]: unknown };
  /** The plan that was seen is done, or nothing. */
  const guarded = (run: Recorder, body: { [key: string]: unknown }, act: () => Response): Response => {
    if (body.generation !== run.run.generation) {
      return problem(409, 'generation_changed', 'Somebody resumed this run before you. Look at it again.');
    }
    return typeof body.plan === 'string' && world.isStale(run) ? problem(409, 'plan_changed', CHANGED) : act();
  };
  return [
    http.post(api('runs/:id/preview'), async ({ params, request }) => {
      const body = await bodyOf(request);
      if (body.operation === 'edit_input' && isObject(body.input) && typeof body.input.url !== 'string') {
        const fields = [NOT_AN_URL];
        return problem(400, 'bad_step_input', 'The step cannot run on this input.', { fields });
      }
      return withRun(params.id, (run) => json(previewOf(world, run, body)));
    }),
    http.post(api('runs/:id/resume'), async ({ params, request }) => {
      const body = await bodyOf(request);
      return withRun(params.id, (run) =>
        guarded(run, body, () => json({ again: world.resume(run, 'Ana'), generation: run.run.generation })),
      );
    }),
    http.post(api('runs/:id/fork'), async ({ params, request }) => {
      const body = await bodyOf(request);
      return withRun(params.id, (run) =>
        guarded(run, body, () => json(world.fork(run, body as unknown as Extract<Operation, { kind: 'fork' }>), 201)),
      );
    }),
    http.put(api('runs/:id/breakpoints'), async ({ params, request }) => {
      const { breakpoints } = await bodyOf(request);
      return withRun(params.id, (run) => {
        run.state = { ...run.state, run: { ...run.state.run, breakpoints: breakpoints as never } };
        world.act(run, (one) => one.tell('command', null, { operation: 'breakpoints' }), 'Ana');
        return json({ status: run.run.status, breakpoints, paused_at: run.run.paused_at });
      });
    }),
    http.post(api('runs/:id/steps/:path/:door'), async ({ params, request }) => {
      const body = await bodyOf(request);
      const act = ACTS[text(params.door)];
      if (!act) return missing();
      return withRun(params.id, (run) =>
        guarded(run, body, () => {
          world.given.push(body);
          world.act(run, (one) => act(one, text(params.path)), 'Ana');
          return json({ generation: run.run.generation, status: run.run.status });
        }),
      );
    }),
  ];
}

/** A fork as it stands when it has just begun. */
export function forkOf(run: Recorder, path: string, number: number): Recorder {
  const fork = failedRun({ id: `run-fork-${number}`, number, ago_s: 1 });
  const { id, number: source } = run.run;
  fork.state = { ...fork.state, run: { ...fork.state.run, forked_from: { id, number: source }, forked_at: path } };
  return fork;
}
