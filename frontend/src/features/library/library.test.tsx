import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createHandlers } from '../../testing/world/handlers';
import { World } from '../../testing/world/world';
import { createCanvasHandlers, DraftWorld } from '../canvas/testing/handlers';
import { draftStateOf } from './draft-state';

const server = setupServer();
let drafts: DraftWorld;
let leave: () => void = () => undefined;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => {
  drafts = new DraftWorld();
  server.resetHandlers(...createCanvasHandlers(drafts), ...createHandlers(new World()));
});
afterEach(() => {
  leave();
  cleanup();
});
afterAll(() => server.close());

async function openLibrary(query = '', ws = 'acme') {
  const app = open(`/w/${ws}/workflows${query}`);
  leave = app.leave;
  await screen.findByRole('heading', { name: 'Workflows' }, { timeout: 10_000 });
  const names = () =>
    screen
      .getAllByRole('row')
      .slice(1)
      .map((row) => within(row).getAllByRole('link')[0]?.textContent);
  return { ...app, names };
}

describe('the workflows list', { timeout: 20_000 }, () => {
  it('says of each workflow what is live and how its last run went', async () => {
    await openLibrary();
    const row = await screen.findByRole('row', { name: /Supplier invoices/ });
    expect(row).toHaveTextContent(/v3 live.*running.*#1045.*by Ana Duarte/);
    expect(screen.getByRole('row', { name: /New workflow/ })).toHaveTextContent(/empty draft.*never ran/);
  });

  it('searches by what stands in the address, and says when nothing is called that', async () => {
    const { user, names, router } = await openLibrary('?q=agents');
    await waitFor(() => expect(names()).toEqual(['Agents hand work on']));
    await user.type(screen.getByRole('textbox', { name: 'Search workflows' }), 'x');
    expect(await screen.findByText("No workflow is called 'agentsx'")).toBeVisible();
    expect(router.state.location.search).toBe('?q=agentsx');
  });

  it('makes a workflow and opens its canvas', async () => {
    const { user, router } = await openLibrary();
    await user.click(await screen.findByRole('button', { name: 'New workflow' }));
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'Payroll');
    await user.click(screen.getByRole('button', { name: 'Create and draw' }));
    await waitFor(() => expect(router.state.location.pathname).toMatch(/workflows\/wf-\d/));
    expect([...drafts.all.values()].map((entry) => entry.workflow.name)).toContain('Payroll');
  });

  it('renames and archives, after asking', async () => {
    const { user, names } = await openLibrary();
    const act = async (item: string) => {
      await user.click(await screen.findByRole('button', { name: 'What to do with New workflow' }));
      await user.click(await screen.findByRole('menuitem', { name: item }));
    };
    await act('Archive');
    await user.click(await screen.findByRole('button', { name: 'Archive it' }));
    await waitFor(() => expect(names()).not.toContain('New workflow'));
    await user.click(screen.getByRole('radio', { name: 'Archived' }));
    await waitFor(() => expect(names()).toEqual(['New workflow']));
    await act('Bring it back');
    await waitFor(() => expect(drafts.all.get('wf-empty')?.workflow.archived_at).toBeNull());
  });

  it('shows a viewer no way to change anything', async () => {
    await openLibrary('', 'lab');
    await screen.findByRole('row', { name: /Supplier invoices/ });
    expect(screen.queryByRole('button', { name: /New workflow|What to do/ })).toBeNull();
  });
});

it('says how far a draft is', () => {
  expect(draftStateOf({ live_version: null, draft_revision: 1 }).words).toBe('empty draft');
  expect(draftStateOf({ live_version: null, draft_revision: 9 }).words).toBe('draft, never published');
  expect(draftStateOf({ live_version: 2, draft_revision: 9 }).words).toBe('v2 live');
});
