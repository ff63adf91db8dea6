import { http, type RequestHandler } from 'msw';

import type { Bulk, BulkResult } from '../../api/bulk';
import type { FailureGroup } from '../../api/failures';
import type { SavedView } from '../../api/lists';
import type { Run } from '../../api/types';
import { matchesFilters, NO_FILTERS } from '../../features/runs-list/filters';
import { parseJson } from '../../lib/json';
import { api, json, missing, problem, text } from './answers';
import type { World } from './world';

type Body = { [key: string]: unknown };
type Operation = Bulk['operation'];

const APPLIES: { [operation in Operation]: readonly string[] } = {
  resume: ['failed', 'cancelled', 'running', 'paused'],
  cancel: ['running', 'paused'],
  pause: ['running'],
  unpause: ['paused'],
  label: ['running', 'paused', 'cancelling', 'failed', 'cancelled', 'succeeded'],
};
const FINGERPRINT = '5a1f0c77e2d94b10';

/** What the lists keep beside the runs: as little as their pages need. */
export class Lists {
  readonly bulks: { bulk: Bulk; results: BulkResult[] }[] = [];
  readonly views: SavedView[] = [];
  readonly asked: Body[] = [];
  state: FailureGroup['state'] = 'open';

  constructor(private readonly world: World) {}

  filtered(ask: (name: string) => string): Run[] {
    const filters = {
      ...NO_FILTERS,
      ...Object.fromEntries(
        ['status', 'workflow', 'starter', 'trigger', 'label', 'error', 'q'].map((name) => [name, ask(name)]),
      ),
      step: ask('failed_step'),
    };
    return this.world.list().filter((run) => {
      if (ask('fingerprint') && (run.status !== 'failed' || ask('fingerprint') !== FINGERPRINT)) return false;
      return matchesFilters(run, filters);
    });
  }

  chosen(body: Body): Run[] {
    if (Array.isArray(body.ids)) return this.world.list().filter((run) => (body.ids as string[]).includes(run.id));
    const filter = (body.filter ?? {}) as { [name: string]: unknown };
    return this.filtered((name) => String(filter[name] ?? ''));
  }

  preview(body: Body) {
    const operation = body.operation as Operation;
    const runs = this.chosen(body);
    const tried = runs.filter((run) => APPLIES[operation].includes(run.status));
    const by_status: { [status: string]: number } = {};
    for (const run of runs) by_status[run.status] = (by_status[run.status] ?? 0) + 1;
    const plans = tried.slice(0, 5).map((run) => ({
      run: refOf(run),
      allowed: true,
      refusal: null,
      again: run.failed_step ? [run.failed_step.path, 'format', 'upload'] : [],
      again_count: 3,
      kept_count: run.counts.succeeded,
      may_happen_twice: [],
      stops_count: run.counts.open,
      saved_s: operation === 'resume' ? 94.2 : 0,
    }));
    return { count: runs.length, skipped: runs.length - tried.length, by_status, plans };
  }

  begin(body: Body): Bulk {
    this.asked.push(body);
    const runs = this.chosen(body);
    const canary = (body.canary as number | null) ?? null;
    const bulk: Bulk = {
      id: String(body.command_id),
      operation: body.operation as Operation,
      status: 'running',
      reason: null,
      revision: 1,
      rate_per_s: (body.rate_per_s as number | null) ?? null,
      canary,
      counts: { total: runs.length, pending: runs.length, done: 0, refused: 0, skipped: 0 },
      actor: 'Ana',
      request: body,
      created_at: new Date().toISOString(),
      finished_at: null,
    };
    const results = runs.map((run): BulkResult => {
      return {
        run: refOf(run),
        status: 'pending',
        code: null,
        message: null,
        result: null,
        actor: null,
        acted_at: null,
      };
    });
    this.bulks.unshift({ bulk, results });
    this.drive(bulk.id, canary ?? runs.length);
    return bulk;
  }

  /** Does so many of the runs that are left. */
  drive(id: string, most: number): void {
    const found = this.bulks.find((one) => one.bulk.id === id);
    if (!found) return;
    for (const item of found.results.filter((one) => one.status === 'pending').slice(0, most))
      this.act(found.bulk, item);
    const { bulk, results } = found;
    const count = (status: BulkResult['status']) => results.filter((one) => one.status === status).length;
    bulk.counts = {
      total: results.length,
      ...{ pending: count('pending'), done: count('done'), refused: count('refused'), skipped: count('skipped') },
    };
    bulk.status = bulk.counts.pending === 0 ? 'done' : 'waiting';
    const message = `The first ${bulk.canary} runs are done: look at them, then continue or stop.`;
    bulk.reason = bulk.status === 'waiting' ? { code: 'canary', message } : null;
    bulk.revision += 1;
  }

  private act({ operation, request }: Bulk, item: BulkResult): void {
    const run = this.world.find(item.run.id);
    item.acted_at = new Date().toISOString();
    if (!run || !APPLIES[operation].includes(run.run.status)) {
      Object.assign(item, { status: 'skipped', message: `The run is ${item.run.status}.` });
      return;
    }
    item.status = 'done';
    if (operation === 'resume') item.result = { again_count: this.world.resume(run, 'Ana').length };
    if (operation === 'label') {
      const { add = [] } = (request as { labels?: { add?: string[] } }).labels ?? {};
      run.state = { ...run.state, run: { ...run.state.run, labels: [...new Set([...run.run.labels, ...add])].sort() } };
      item.result = { labels: run.run.labels };
    }
    item.run = refOf(run.run);
  }

  groups(show: string): FailureGroup[] {
    const runs = this.world.list().filter((run) => run.status === 'failed');
    const at = runs[0];
    const isShown = show === (runs.length === 0 ? 'resolved' : this.state);
    return isShown ? [this.group(runs, at)] : [];
  }

  private group(runs: Run[], newest: Run | undefined): FailureGroup {
    const last = newest?.finished_at ?? new Date(Date.now() - 420_000).toISOString();
    return {
      fingerprint: FINGERPRINT,
      kind: 'http_request',
      code: 'http_status',
      pattern: '<n> from <url>: policy service is being updated',
      first_at: new Date(Date.now() - 6 * 86_400_000).toISOString(),
      last_at: last,
      seen_count: 14,
      standing: { count: runs.length, is_exact: true },
      recovered: { count: 9, is_exact: true },
      workflows: [{ id: 'wf-invoices', name: 'Supplier invoices', count: 14 }],
      workflow_count: 1,
      example: newest
        ? {
            run: { id: newest.id, number: newest.number, workflow: newest.workflow, version: newest.version },
            path: newest.failed_step?.path ?? '',
            message: newest.failed_step?.error?.message ?? '',
            failed_at: last,
          }
        : null,
      state: this.state,
      state_by: this.state === 'open' ? '' : 'Ana',
      state_at: this.state === 'open' ? null : new Date().toISOString(),
      note: '',
      resolved_by:
        runs.length > 0 ? null : { operation: 'resume', actor: 'Ana', at: last, bulk: this.bulks[0]?.bulk.id ?? null },
    };
  }
}

const refOf = ({ id, number, status, workflow }: Run) => ({ id, number, status, workflow });
const bodyOf = async (request: Request) => parseJson(await request.text()) as Body;

export function createListHandlers(world: World): RequestHandler[] {
  const { lists } = world;
  const withBulk = (id: unknown, answer: (found: (typeof lists.bulks)[number]) => unknown): Response => {
    const found = lists.bulks.find((one) => one.bulk.id === text(id));
    return found ? json(answer(found)) : missing();
  };
  return [
    http.get(api('runs/count'), ({ request }) => {
      const query = new URL(request.url).searchParams;
      return json({ count: lists.filtered((name) => query.get(name) ?? '').length, is_exact: true });
    }),
    http.get(api('labels'), () => json({ items: [...new Set(world.list().flatMap((run) => run.labels))].sort() })),
    http.get(api('views'), () => json({ items: lists.views })),
    http.post(api('views'), async ({ request }) => {
      const body = (await bodyOf(request)) as unknown as SavedView;
      if (lists.views.some((one) => one.name === body.name)) {
        return problem(409, 'view_name_taken', `You have a view '${body.name}' already.`);
      }
      const more = {
        id: `view-${lists.views.length}`,
        is_mine: true,
        owner: 'Ana',
        created_at: new Date().toISOString(),
      };
      lists.views.push({ ...body, ...more });
      return json(lists.views.at(-1), 201);
    }),
    http.delete(api('views/:id'), ({ params }) => {
      lists.views.splice(
        lists.views.findIndex((one) => one.id === text(params.id)),
        1,
      );
      return new Response(null, { status: 204 });
    }),
    http.post(api('bulk/preview'), async ({ request }) => json(lists.preview(await bodyOf(request)))),
    http.get(api('bulk'), () => json({ items: lists.bulks.map((one) => one.bulk), next: null })),
    http.post(api('bulk'), async ({ request }) => json(lists.begin(await bodyOf(request)), 201)),
    http.get(api('bulk/:id'), ({ params }) => withBulk(params.id, ({ bulk }) => bulk)),
    http.get(api('bulk/:id/runs'), ({ params, request }) => {
      const status = new URL(request.url).searchParams.get('status');
      return withBulk(params.id, ({ results }) => ({
        items: results.filter((one) => !status || one.status === status),
        next: null,
      }));
    }),
    http.post(api('bulk/:id/stop'), ({ params }) =>
      withBulk(params.id, ({ bulk }) =>
        Object.assign(bulk, { status: 'stopped', reason: { code: 'by_person', message: 'Ana stopped it.' } }),
      ),
    ),
    http.post(api('bulk/:id/continue'), ({ params }) =>
      withBulk(params.id, ({ bulk }) => {
        lists.drive(bulk.id, bulk.counts.pending);
        return bulk;
      }),
    ),
    http.get(api('failures'), ({ request }) => {
      const show = new URL(request.url).searchParams.get('show') ?? 'open';
      return json({ items: lists.groups(show), next: null });
    }),
    http.get(api('failures/count'), () => json({ count: lists.groups('open').length, is_exact: true })),
    http.put(api('failures/:fingerprint'), async ({ request }) => {
      lists.state = (await bodyOf(request)).state as FailureGroup['state'];
      return json(lists.groups(lists.state)[0] ?? {});
    }),
  ];
}
