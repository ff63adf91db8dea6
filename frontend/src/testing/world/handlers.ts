import { http, type RequestHandler } from 'msw';

import { createAlertHandlers } from '../../features/alerts/testing/handlers';
import { createCanvasHandlers } from '../../features/canvas/testing/handlers';
import { createOverviewHandlers } from '../../features/overview/testing/handlers';
import { createTriggerHandlers } from '../../features/triggers/testing/handlers';
import connectionKinds from '../fixtures/connection-kinds.json';
import stepKinds from '../fixtures/step-kinds.json';
import { api, json, missing, problem, text } from './answers';
import { logOf } from './details';
import { createListHandlers } from './lists';
import { CONNECTIONS, MAILS, MEMBERS, SESSION, WORKFLOWS } from './people';
import type { Recorder } from './recorder';
import { createRecoveryHandlers } from './recovery';
import { createWatchingHandlers } from './watching';
import type { World } from './world';

function workspaceHandlers(world: World): RequestHandler[] {
  return [
    http.get('/api/session', () => json(SESSION)),
    http.get(api('step-kinds'), () => json({ items: stepKinds })),
    http.get(api('workflows'), () => json({ items: WORKFLOWS, next: null })),
    http.get(api('members'), () => json({ items: MEMBERS, next: null })),
    http.get(api('connection-kinds'), () => json({ items: connectionKinds })),
    http.get(api('connections'), () => json({ items: CONNECTIONS, next: null })),
    http.get(api('mailbox'), () => json({ items: MAILS.map((one) => one.mail), next: null })),
    http.get(api('mailbox/:id'), ({ params }) => {
      const found = MAILS.find((one) => one.mail.id === params.id);
      return found ? json(found) : missing();
    }),
    http.get(api('waits'), () => json({ items: world.waits(), next: null })),
    http.get(api('waits/:id'), ({ params }) => {
      const found = world.waits().find((one) => one.id === params.id);
      return found ? json(found) : missing();
    }),
    http.post(api('waits/:id/answer'), async ({ params, request }) => {
      const { decision } = (await request.json()) as { decision: string };
      return world.answer(text(params.id), decision)
        ? json({})
        : problem(410, 'wait_closed', 'This question was answered before.');
    }),
  ];
}

function listRuns(world: World, url: URL): Response {
  const ask = (name: string) => url.searchParams.get(name) ?? '';
  const all = world.lists.filtered(ask).filter((run) => {
    if (ask('forked_from') && run.forked_from?.id !== ask('forked_from')) return false;
    return !ask('started_after') || run.started_at >= ask('started_after');
  });
  const from = Number(ask('cursor') || 0);
  const limit = Math.min(Number(ask('limit') || 50), 20);
  const next = from + limit < all.length ? String(from + limit) : null;
  return json({ items: all.slice(from, from + limit), next, looked_back_to: null });
}

function runHandlers(world: World): RequestHandler[] {
  const withRun = (id: unknown, answer: (run: Recorder) => Response): Response => {
    const run = world.find(text(id));
    return run ? answer(run) : missing();
  };
  return [
    http.get(api('runs'), ({ request }) => listRuns(world, new URL(request.url))),
    http.get(api('runs/:id'), ({ params }) => withRun(params.id, (run) => json(run.snapshot()))),
    http.get(api('runs/:id/events'), ({ params, request }) =>
      withRun(params.id, (run) => {
        const after = Number(new URL(request.url).searchParams.get('after'));
        return json({ items: run.events.slice(after, after + 200), last: Math.min(after + 200, run.events.length) });
      }),
    ),
    http.get(api('runs/:id/steps/:path'), ({ params }) =>
      withRun(params.id, (run) => {
        const detail = world.detail(run, text(params.path));
        return detail ? json(detail) : missing();
      }),
    ),
    http.get(api('runs/:id/steps/:path/logs'), ({ params, request }) => {
      const query = new URL(request.url).searchParams;
      const log = logOf(text(params.path), Number(query.get('attempt')));
      const after = Number(query.get('after'));
      const times = [{ offset: 0, at: '2026-03-04T12:04:18.011Z' }];
      return json({ text: log.slice(after), next_offset: log.length, times, complete: true });
    }),
    http.get(api('runs/:id/items/:path'), ({ params, request }) =>
      withRun(params.id, (run) => {
        const status = new URL(request.url).searchParams.get('status');
        const steps = [...run.state.steps.values()].filter(
          (step) => step.parent === text(params.path) && (!status || step.status === status),
        );
        return json({ items: steps.slice(0, 200), next: null });
      }),
    ),
    http.post(api('runs/:id/cancel'), ({ params }) =>
      withRun(params.id, (run) => {
        world.act(run, (one) => {
          one.tell('run.cancelling', null);
          for (const step of one.state.steps.values()) {
            if (['running', 'waiting', 'ready', 'pending'].includes(step.status)) one.tell('step.cancelled', step.path);
          }
          one.tell('run.cancelled', null);
        });
        return json({});
      }),
    ),
    http.post(api('runs/:id/pause'), ({ params }) =>
      withRun(params.id, (run) => {
        world.act(run, (one) => one.tell('run.paused', null), 'Ana');
        return json({ status: 'paused' });
      }),
    ),
    http.post(api('runs/:id/unpause'), ({ params }) =>
      withRun(params.id, (run) => {
        world.act(run, (one) => one.tell('run.running', null, { generation: one.run.generation }), 'Ana');
        return json({ status: 'running' });
      }),
    ),
  ];
}

export function createHandlers(world: World): RequestHandler[] {
  return [
    ...createCanvasHandlers(),
    ...createTriggerHandlers(),
    ...createOverviewHandlers(),
    ...createAlertHandlers(),
    ...workspaceHandlers(world),
    ...createListHandlers(world),
    ...runHandlers(world),
    ...createRecoveryHandlers(world),
    ...createWatchingHandlers(world),
  ];
}
