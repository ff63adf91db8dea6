import { http, type RequestHandler } from 'msw';

import { api, json, missing } from '../../../testing/world/answers';
import { WORKFLOWS } from '../../../testing/world/people';
import type { Alert, AlertDraft, Delivery } from '../api';

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

const delivery = (id: string, more: Partial<Delivery>): Delivery => ({
  id,
  status: 'sent',
  is_test: false,
  facts: [],
  fact_count: 1,
  attempts: 1,
  error: null,
  next_at: null,
  created_at: ago(60),
  sent_at: ago(58),
  ...more,
});

const told = (text: string, run: string | null = 'run-failed') => [{ kind: 'failed' as const, at: ago(70), text, run }];

/** The alerts of a small Pawl. A test is taken at once. */
export class AlertWorld {
  all: Alert[] = [this.make({ name: 'Night shift' }), this.make({ name: 'Chat', channel: 'webhook' })];

  constructor() {
    const [mail, hook] = this.all as [Alert, Alert];
    mail.deliveries = [
      delivery('d1', {
        facts: told("Run 1043 of Supplier invoices failed at 'compliance': http_503"),
        fact_count: 212,
        sent_at: ago(3600),
      }),
      delivery('d2', { is_test: true, fact_count: 0, sent_at: ago(90_000) }),
    ];
    hook.url = 'https://chat.example';
    hook.deliveries = [
      delivery('d3', {
        status: 'waiting',
        facts: told("Run 1043 of Supplier invoices failed at 'compliance': http_503"),
        attempts: 3,
        error: 'https://chat.example answered 502.',
        next_at: ago(-180),
        sent_at: null,
      }),
    ];
  }

  make(draft: Partial<AlertDraft>): Alert {
    const workflow = WORKFLOWS.find((one) => one.id === draft.workflow);
    return {
      id: `alert-${Math.random().toString(36).slice(2)}`,
      name: draft.name ?? '',
      workflow: workflow ? { id: workflow.id, name: workflow.name } : null,
      events: draft.events ?? ['failed', 'silent', 'no_worker'],
      channel: draft.channel ?? 'mail',
      recipients: draft.recipients ?? (draft.channel === 'webhook' ? [] : ['night@acme.example']),
      connection: draft.connection ?? '',
      url: draft.url ?? '',
      quiet_s: draft.quiet_s ?? 300,
      no_worker_s: 120,
      enabled: true,
      untold: 0,
      deliveries: [],
      created_by: 'Ana Duarte',
      created_at: ago(900_000),
      updated_at: ago(900_000),
    };
  }
}

export function createAlertHandlers(world = new AlertWorld()): RequestHandler[] {
  const find = (id: unknown) => world.all.find((one) => one.id === id);
  return [
    http.get(api('alerts'), () => json({ items: world.all, has_own_mail: true })),
    http.post(api('alerts'), async ({ request }) => {
      const made = world.make((await request.json()) as AlertDraft);
      world.all.push(made);
      return json({ ...made, secret: made.channel === 'webhook' ? 'whsec_9f2c' : null }, 201);
    }),
    http.patch(api('alerts/:id'), async ({ params, request }) => {
      const found = find(params.id);
      if (!found) return missing();
      Object.assign(found, (await request.json()) as object);
      return json(found);
    }),
    http.delete(api('alerts/:id'), ({ params }) => {
      world.all = world.all.filter((one) => one.id !== params.id);
      return json(null, 200);
    }),
    http.post(api('alerts/:id/test'), ({ params }) => {
      const found = find(params.id);
      if (!found) return missing();
      found.deliveries = [delivery(`d${Date.now()}`, { is_test: true, fact_count: 0 }), ...found.deliveries];
      return json(found.deliveries[0], 201);
    }),
    http.get(api('alerts/:id/deliveries'), ({ params }) =>
      json({ items: find(params.id)?.deliveries ?? [], next: null }),
    ),
  ];
}
