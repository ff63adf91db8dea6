import { HttpResponse, http, type RequestHandler } from 'msw';

import { formatJson, isObject, parseJson } from '../../../lib/json';
import { WORKFLOWS } from '../../../testing/world/people';
import type { Firing, Trigger, TriggerDraft, Upcoming } from '../api';

const json = (body: unknown, status = 200): Response =>
  new HttpResponse(formatJson(body), {
    status,
    headers: { 'Content-Type': status >= 400 ? 'application/problem+json' : 'application/json' },
  });

const DAY_MS = 24 * 3600 * 1000;
const NEVER = /\b30 2 \*$/; // 30 February

function refuse(field: string, message: string): Response {
  const data = { fields: [{ field, message }] };
  return json(
    { type: 'about:blank', title: 'Bad Request', status: 400, code: 'bad_trigger', detail: message, data },
    400,
  );
}

function upcoming(): Upcoming[] {
  return Array.from({ length: 5 }, (_, at) => {
    const time = new Date(Date.UTC(2027, 2, 27 + at, 2)).toISOString();
    return { at: time, local: time, clock: at === 1 ? ('forward' as const) : null };
  });
}

/** The triggers of a small Pawl. Nothing fires by itself. */
export class TriggerWorld {
  all: Trigger[] = [];
  firings: Firing[] = [];

  make(workflow: string, draft: TriggerDraft): Trigger {
    const at = new Date().toISOString();
    const made: Trigger = {
      id: `trigger-${this.all.length + 1}`,
      kind: draft.kind,
      name: draft.name,
      workflow: { id: workflow, name: WORKFLOWS.find((one) => one.id === workflow)?.name ?? '' },
      enabled: true,
      settings: draft.settings,
      priority: 0,
      limit: null,
      deadline_s: null,
      path: draft.kind === 'webhook' ? '/hooks/qz4v7c1k' : null,
      upcoming: draft.kind === 'schedule' ? upcoming() : [],
      last_firing: null,
      created_by: 'Ana Duarte',
      created_at: at,
      updated_at: at,
    };
    this.all.unshift(made);
    return made;
  }

  /** As a sweeper would have left it: the last three times of every schedule. */
  fire(run: { id: string; number: number }): void {
    const due = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const base = { detail: null, is_backfill: false, is_late: false, fired_at: null, run: null, reason: null };
    this.firings = [
      { ...base, id: 3, due_at: due(1), status: 'fired', fired_at: due(1), run: { ...run, status: 'succeeded' } },
      { ...base, id: 2, due_at: due(2), status: 'skipped', reason: 'still_running' },
      {
        ...base,
        id: 1,
        due_at: due(3),
        status: 'failed',
        reason: 'target_archived',
        detail: 'The workflow is archived.',
      },
    ];
    for (const one of this.all) one.last_firing = this.firings[0] ?? null;
  }
}

export function createTriggerHandlers(world = new TriggerWorld()): RequestHandler[] {
  const at = (path: string) => `/api/workspaces/:ws/${path}`;
  const found = (id: unknown) => world.all.find((one) => one.id === id);
  return [
    http.get(at('workflows/:id/triggers'), ({ params }) =>
      json({ items: world.all.filter((one) => one.workflow.id === params.id), next: null }),
    ),
    http.post(at('workflows/:id/triggers'), async ({ params, request }) => {
      const draft = parseJson(await request.text()) as TriggerDraft;
      if (NEVER.test(String(draft.settings.cron))) return refuse('settings.cron', 'It is never due.');
      const made = world.make(String(params.id), draft);
      return json({ ...made, secret: draft.kind === 'webhook' ? 'whsec_shown-once' : null }, 201);
    }),
    http.patch(at('triggers/:id'), async ({ params, request }) => {
      const one = found(params.id);
      const body = await request.json();
      if (one && isObject(body)) one.enabled = body.enabled === true;
      return one ? json(one) : json({}, 404);
    }),
    http.delete(at('triggers/:id'), ({ params }) => {
      world.all = world.all.filter((one) => one.id !== params.id);
      return new HttpResponse(null, { status: 204 });
    }),
    http.get(at('triggers/:id/firings'), () => json({ items: world.firings, next: null })),
    http.post(at('schedule-preview'), async ({ request }) => {
      const body = await request.json();
      if (isObject(body) && NEVER.test(String(body.cron))) return refuse('cron', 'It is never due.');
      return json({ items: upcoming() });
    }),
  ];
}
