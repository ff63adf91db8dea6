import { HttpResponse, http, type RequestHandler } from 'msw';

import type { Workflow } from '../../../api/types';
import type { Description, GraphDocument, StepKind } from '../../../diagram';
import { formatJson, isObject } from '../../../lib/json';
import stepKinds from '../../../testing/fixtures/step-kinds.json';
import invoices from '../../../testing/fixtures/supplier-invoices.json';
import { WORKFLOWS } from '../../../testing/world/people';
import type { Draft, Problem, Version } from '../api';
import { EMPTY } from '../model/document';
import { doctorOf } from './doctor';
import { largeGraph } from './large-graph';
import { historyOf, versionsOf } from './versions';

export const KINDS = new Map((stepKinds as unknown as StepKind[]).map((kind) => [kind.kind, kind]));
export const INVOICES = invoices as unknown as GraphDocument;

/** The server's checks that a person meets first; the whole of them is tested in Python. */
export function checkGraph(graph: GraphDocument): Problem[] {
  return graph.nodes.flatMap((node): Problem[] => {
    const schema = KINDS.get(node.kind)?.schema;
    const required = isObject(schema) && Array.isArray(schema.required) ? schema.required.map(String) : [];
    return required
      .filter((field) => node.config[field] === undefined || node.config[field] === '')
      .map((field) => ({
        code: 'required_field_missing',
        severity: 'error',
        message: `"${node.name || node.key}" needs the field '${field}'.`,
        node: node.id,
        field,
      }));
  });
}

export interface Kept {
  workflow: Workflow;
  draft: Draft;
  versions: Version[];
}

const json = (body: unknown, status = 200): Response =>
  new HttpResponse(formatJson(body), {
    status,
    headers: { 'Content-Type': status >= 400 ? 'application/problem+json' : 'application/json' },
  });

const refuse = (status: number, code: string, detail: string, data: object = {}): Response =>
  json({ type: 'about:blank', title: code, status, code, detail, data }, status);

const now = (): string => new Date().toISOString();

function kept(workflow: Workflow, graph: GraphDocument): Kept {
  const draft: Draft = {
    revision: workflow.draft_revision,
    graph,
    problems: checkGraph(graph),
    updated_at: workflow.updated_at,
    updated_by: workflow.updated_by,
  };
  const versions = versionsOf(workflow, graph);
  return { workflow, draft, versions };
}

/** Workflows, drafts and versions in memory, for tests and `npm run dev:mock`. */
export class DraftWorld {
  readonly all = new Map<string, Kept>();

  constructor() {
    const blank = { archived_at: null, draft_revision: 1, live_version: null, last_run: null };
    const made = { created_at: now(), updated_at: now(), updated_by: 'Ana Duarte' };
    for (const workflow of WORKFLOWS) this.all.set(workflow.id, kept(workflow, INVOICES));
    this.all.set('wf-empty', kept({ ...blank, ...made, id: 'wf-empty', name: 'New workflow' }, EMPTY));
    this.all.set(
      'wf-large',
      kept({ ...blank, ...made, id: 'wf-large', name: 'Five hundred steps', draft_revision: 2 }, largeGraph(500)),
    );
  }

  save(entry: Kept, { revision, graph }: { revision: number; graph: GraphDocument }): Response {
    if (revision !== entry.draft.revision) {
      return refuse(409, 'draft_conflict', 'Somebody saved this draft meanwhile.', entry.draft);
    }
    entry.draft = { ...entry.draft, revision: revision + 1, graph, problems: checkGraph(graph), updated_at: now() };
    return json(entry.draft);
  }

  publish(entry: Kept, note: string): Response {
    const problems = entry.draft.problems.filter((problem) => problem.severity === 'error');
    if (problems.length > 0) return refuse(422, 'draft_has_problems', 'Mend the problems first.', { problems });
    const number = entry.versions.length + 1;
    const version = { number, note, published_at: now(), published_by: 'Ana Duarte', graph: entry.draft.graph };
    entry.versions.push(version);
    entry.workflow = { ...entry.workflow, live_version: number };
    return json(version, 201);
  }

  create(name: string): Workflow {
    const id = `wf-${this.all.size + 1}`;
    const workflow = {
      id,
      name,
      created_at: now(),
      updated_at: now(),
      updated_by: 'Ana Duarte',
      archived_at: null,
      live_version: null,
      draft_revision: 1,
      last_run: null,
    };
    this.all.set(id, kept(workflow, EMPTY));
    return workflow;
  }
}

const api = (path: string) => `/api/workspaces/:ws/workflows${path}`;

function describe({ kind, config }: { kind: string; config: { [field: string]: unknown } }): Description {
  const cases = Array.isArray(config.cases) ? config.cases : [];
  const ports =
    kind === 'switch'
      ? [
          ...cases.map((one: { name: string }) => ({ name: one.name, title: one.name })),
          { name: 'otherwise', title: 'Otherwise' },
        ]
      : (KINDS.get(kind)?.ports ?? []);
  const line = kind === 'http_request' ? `${config.method ?? 'GET'} ${config.url ?? ''}` : '';
  return { description: line, ports };
}

export function createCanvasHandlers(world = new DraftWorld()): RequestHandler[] {
  const withOne = (id: unknown, answer: (entry: Kept) => Response): Response => {
    const entry = world.all.get(String(id));
    return entry ? answer(entry) : refuse(404, 'workflow_not_found', 'There is no such workflow here.');
  };
  return [
    http.get(api(''), ({ request }) => {
      const query = new URL(request.url).searchParams;
      const q = (query.get('q') ?? '').toLowerCase();
      const archived = query.get('archived') === 'true';
      const items = [...world.all.values()].map((entry) => entry.workflow);
      const found = items.filter((one) => one.name.toLowerCase().includes(q) && Boolean(one.archived_at) === archived);
      return json({ items: found, next: null });
    }),
    http.post(api(''), async ({ request }) =>
      json(world.create(((await request.json()) as { name: string }).name), 201),
    ),
    http.get(api('/:id'), ({ params }) => withOne(params.id, (entry) => json(entry.workflow))),
    http.patch(api('/:id'), async ({ params, request }) => {
      const { archived, ...body } = (await request.json()) as { name?: string; archived?: boolean };
      return withOne(params.id, (entry) => {
        const shelf = archived === undefined ? {} : { archived_at: archived ? now() : null };
        entry.workflow = { ...entry.workflow, ...body, ...shelf, updated_at: now() };
        return json(entry.workflow);
      });
    }),
    http.get(api('/:id/draft'), ({ params }) => withOne(params.id, (entry) => json(entry.draft))),
    http.put(api('/:id/draft'), async ({ params, request }) => {
      const body = (await request.json()) as { revision: number; graph: GraphDocument };
      return withOne(params.id, (entry) => world.save(entry, body));
    }),
    http.get(api('/:id/doctor'), ({ params }) => withOne(params.id, (entry) => json(doctorOf(entry)))),
    http.post(api('/:id/publish'), async ({ params, request }) => {
      const { note } = (await request.json()) as { note: string };
      return withOne(params.id, (entry) => world.publish(entry, note));
    }),
    http.get(api('/:id/versions'), ({ params }) =>
      withOne(params.id, ({ versions }) =>
        json({ items: versions.map(({ graph: _, ...row }) => row).reverse(), next: null }),
      ),
    ),
    http.get(api('/:id/steps/:node/history'), ({ params }) =>
      withOne(params.id, (entry) => json(historyOf(entry, String(params.node)))),
    ),
    http.get(api('/:id/versions/:n'), ({ params }) =>
      withOne(params.id, ({ versions }) => {
        const version = versions[Number(params.n) - 1];
        return version ? json(version) : refuse(404, 'version_not_found', 'There is no such version.');
      }),
    ),
    http.post(api('/:id/describe'), async ({ request }) => {
      const { nodes } = (await request.json()) as { nodes: Parameters<typeof describe>[0][] };
      return json({ items: nodes.map(describe) });
    }),
    http.post(api('/:id/runs'), () => json({ id: 'run-running', number: 1046, status: 'running' }, 201)),
  ];
}
