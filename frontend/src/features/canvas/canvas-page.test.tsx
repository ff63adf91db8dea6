import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createHandlers } from '../../testing/world/handlers';
import { World } from '../../testing/world/world';
import type { Problem } from './api';
import { draw } from './testing/draw';
import { createCanvasHandlers, DraftWorld } from './testing/handlers';

const server = setupServer();
let drafts: DraftWorld;
let leave: () => void = () => undefined;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => {
  localStorage.clear();
  drafts = new DraftWorld();
  server.resetHandlers(...createCanvasHandlers(drafts), ...createHandlers(new World()));
});
afterEach(() => {
  leave();
  cleanup();
});
afterAll(() => server.close());

async function openCanvas(id: string) {
  const app = open(`/w/acme/workflows/${id}`);
  leave = app.leave;
  await screen.findByRole('complementary', { name: 'Step library' }, { timeout: 15_000 });
  return { ...app, draft: () => drafts.all.get(id)?.draft, saveState: () => screen.getByTestId('save-state') };
}

const SLOW = 30_000;

describe('the canvas page', { timeout: SLOW }, () => {
  it('lists the steps in the order in which they run', async () => {
    await openCanvas('wf-invoices');
    const rows = within(screen.getByRole('complementary', { name: 'Steps of the workflow' })).getAllByRole('listitem');
    expect(rows.slice(0, 5).map((row) => row.textContent)).toEqual([
      expect.stringMatching(/^Startstart/),
      expect.stringMatching(/^1 Fetch the batchfetch/),
      expect.stringMatching(/^2 Parse and validateparse/),
      expect.stringMatching(/^3 Read each documentocr_documents/),
      expect.stringMatching(/^Downloaddownload/),
    ]);
  });

  it('mends a problem by one click, as one edit that can be undone', async () => {
    const entry = drafts.all.get('wf-empty');
    if (!entry) throw new Error('the world has no empty workflow');
    const fix = {
      title: 'Connect it after "Start"',
      acts: [{ act: 'connect', node: 'start', port: 'out', target: 'a' }],
    };
    entry.draft = {
      ...entry.draft,
      graph: draw('start\na'),
      problems: [{ code: 'unreachable', severity: 'error', message: 'No way leads here.', node: 'a', fix } as Problem],
    };
    const { user, draft } = await openCanvas('wf-empty');
    await user.click(screen.getByRole('button', { name: 'Problems 1' }));
    await user.click(screen.getByRole('button', { name: fix.title }));
    await waitFor(() => expect(draft()?.graph.edges).toHaveLength(1), { timeout: 5000 });
    expect(screen.getByRole('button', { name: 'No problems' })).toBeVisible();
    await user.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(draft()?.graph.edges).toHaveLength(0), { timeout: 5000 });
  });

  it('adds steps by the keyboard alone, saves them, and names what is missing', async () => {
    const { user, draft, saveState } = await openCanvas('wf-empty');
    await user.keyboard('n');
    await user.keyboard('start{Enter}');
    await user.keyboard('{Tab}');
    await user.keyboard('http{Enter}');
    await waitFor(() => expect(saveState()).toHaveTextContent('Saved'), { timeout: 5000 });
    await waitFor(() => expect(draft()?.graph.edges).toHaveLength(1), { timeout: 5000 });
    expect(draft()?.graph.nodes.map((node) => node.key)).toEqual(['start', 'http_request']);
    expect(await screen.findByRole('button', { name: 'Problems 1' })).toBeVisible();
    await user.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(draft()?.graph.nodes).toHaveLength(1), { timeout: 5000 });
  });

  it('puts a note beside the steps, groups them and switches them off, by the keyboard alone', async () => {
    const { user, draft } = await openCanvas('wf-empty');
    await user.keyboard('n');
    await user.keyboard('start{Enter}');
    await user.keyboard('{Tab}');
    await user.keyboard('http{Enter}');
    await user.keyboard('d');
    await user.keyboard('{Shift>}s{/Shift}');
    await user.type(await screen.findByRole('textbox', { name: /Text of the note/ }), '**Nightly**{Escape}');
    expect(await screen.findByText('Nightly', { selector: 'strong' })).toBeVisible();
    await user.keyboard('{Control>}a{/Control}{Control>}g{/Control}');
    await waitFor(() => expect(draft()?.graph.groups?.[0]?.members).toHaveLength(3), { timeout: 5000 });
    expect(draft()?.graph).toMatchObject({
      nodes: [{ key: 'start' }, { key: 'http_request', disabled: true }],
      notes: [{ text: '**Nightly**' }],
    });
  });

  it('does not publish what has problems, and leads to the first of them', async () => {
    const { user } = await openCanvas('wf-empty');
    await user.keyboard('n');
    await user.keyboard('http{Enter}');
    await screen.findByRole('button', { name: 'Problems 1' }, { timeout: 5000 });
    await user.click(screen.getByRole('button', { name: 'Publish' }));
    const dialog = await screen.findByRole('dialog', { name: 'Mend these first' });
    expect(within(dialog).queryByRole('button', { name: /Publish/ })).toBeNull();
    await user.click(within(dialog).getByRole('button', { name: /needs the field 'url'/ }));
    expect(await screen.findByRole('textbox', { name: 'Name of the step' })).toHaveValue('HTTP request');
  });

  it('publishes with a note and says the new number', async () => {
    const { user } = await openCanvas('wf-invoices');
    await user.keyboard('{Control>}s{/Control}');
    await user.type(await screen.findByRole('textbox', { name: 'What changed' }), 'Second reading');
    expect(await screen.findByText(/03:00, moved: the clock is put forward/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Publish version 4' }));
    expect(await screen.findByText('Version 4 is live')).toBeVisible();
    expect(drafts.all.get('wf-invoices')?.versions.at(-1)).toMatchObject({ number: 4, note: 'Second reading' });
    expect(await screen.findByText('v4 is live')).toBeVisible();
  });

  it('starts a run with what the start step asks for, and goes to it', async () => {
    const sent: unknown[] = [];
    server.events.on('request:start', ({ request }) => {
      if (request.method === 'POST' && request.url.endsWith('/runs'))
        void request
          .clone()
          .json()
          .then((body) => sent.push(body));
    });
    const { user, router } = await openCanvas('wf-invoices');
    await user.click(screen.getByRole('button', { name: 'Run' }));
    const dialog = await screen.findByRole('dialog', { name: 'Run Supplier invoices' });
    await user.click(await within(dialog).findByRole('button', { name: 'Run version 3' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/w/acme/runs/run-running'), { timeout: 5000 });
    expect(sent).toEqual([{ input: { batch: '2026-03' }, version: 3, idempotency_key: expect.any(String) }]);
  });

  it('asks whose draft stays when somebody else saved, and keeps mine over theirs', async () => {
    const { user, draft } = await openCanvas('wf-empty');
    const entry = drafts.all.get('wf-empty');
    if (entry) entry.draft = { ...entry.draft, revision: 7, updated_by: 'Ben' };
    await user.keyboard('n');
    await user.keyboard('start{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'Somebody else changed this draft' }, { timeout: 5000 });
    expect(dialog).toHaveTextContent('Ben saved it');
    await user.click(within(dialog).getByRole('button', { name: 'Keep mine' }));
    await waitFor(() => expect(draft()).toMatchObject({ revision: 8, graph: { nodes: [{ key: 'start' }] } }), {
      timeout: 5000,
    });
  });

  it('says that it is offline, and sends what was kept after a reload', async () => {
    server.use(http.put('/api/workspaces/:ws/workflows/:id/draft', () => Response.error()));
    const first = await openCanvas('wf-empty');
    await first.user.keyboard('n');
    await first.user.keyboard('start{Enter}');
    await waitFor(() => expect(first.saveState()).toHaveTextContent('Offline, kept here'), { timeout: 5000 });
    leave();
    server.resetHandlers(...createCanvasHandlers(drafts), ...createHandlers(new World()));
    const second = await openCanvas('wf-empty');
    await waitFor(() => expect(second.draft()?.graph.nodes).toHaveLength(1), { timeout: 5000 });
    await waitFor(() => expect(second.saveState()).toHaveTextContent('Saved'), { timeout: 5000 });
  });

  it('shows a viewer the graph and no way to change it', async () => {
    const app = open('/w/lab/workflows/wf-invoices');
    leave = app.leave;
    expect(await screen.findByText('Read only', {}, { timeout: 15_000 })).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Publish' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Run' })).toBeNull();
    await app.user.keyboard('n');
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});
