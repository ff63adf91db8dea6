import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createMockServer } from '../../testing/server';
import { createHandlers } from '../../testing/world/handlers';
import { runningRun, succeededRun } from '../../testing/world/runs';
import { World } from '../../testing/world/world';

const { server } = createMockServer();
let world: World;
let leave: () => void;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => {
  world = new World();
  server.resetHandlers(...createHandlers(world));
});
afterEach(() => {
  leave?.();
  cleanup();
});
afterAll(() => server.close());

async function openRuns(query = '') {
  const app = open(`/w/acme/runs${query}`);
  leave = app.leave;
  const table = await screen.findByRole('table', { name: 'Runs' });
  return { ...app, table, rows: () => within(table).getAllByRole('row').slice(1) };
}

describe('the runs list', () => {
  it('says of each run where it is or failed', async () => {
    const { rows } = await openRuns();
    const failed = rows().find((row) => row.textContent?.includes('1042'));
    expect(failed).toHaveTextContent('failed1042Supplier invoices v38 of 15compliance');
    expect(rows().find((row) => row.textContent?.includes('1044'))).toHaveTextContent('waiting');
  });

  it('filters by what stands in the address, and writes there what is chosen', async () => {
    const { rows, router, user } = await openRuns('?status=failed');
    expect(rows().every((row) => row.textContent?.startsWith('failed'))).toBe(true);
    await user.click(screen.getByRole('button', { name: 'running' }));
    expect(router.state.location.search).toBe('?status=failed%2Crunning');
    await user.click(screen.getByRole('button', { name: 'failed' }));
    expect(router.state.location.search).toBe('?status=running');
    await waitFor(() => expect(screen.getByRole('table', { name: 'Runs' })).not.toHaveTextContent('failed'));
  });

  it('changes a row in its place', async () => {
    const { rows, end } = await openRuns();
    const at = rows().findIndex((row) => row.textContent?.includes('1045'));
    const done = { ...succeededRun({ id: 'run-running', number: 1045, ago_s: 24 }).run };
    act(() => end.say({ type: 'list', runs: [done] }));
    await waitFor(() => expect(rows()[at]).toHaveTextContent('succeeded1045'));
  });

  it('keeps new runs behind a button, so that nothing jumps', async () => {
    const { rows, end, user } = await openRuns();
    const before = rows().length;
    const fresh = runningRun({ id: 'run-new', number: 1046, ago_s: 0 });
    world.runs.set('run-new', fresh);
    act(() => end.say({ type: 'list', runs: [fresh.run] }));
    const button = await screen.findByRole('button', { name: 'Show 1 new run' });
    expect(rows()).toHaveLength(before);
    await user.click(button);
    await waitFor(() => expect(screen.getByRole('table', { name: 'Runs' })).toHaveTextContent('1046'));
    expect(screen.queryByRole('button', { name: 'Show 1 new run' })).toBeNull();
  });

  it('loads more when asked', async () => {
    const { rows, user } = await openRuns();
    expect(rows()).toHaveLength(20);
    await user.click(screen.getByRole('button', { name: 'Load more' }));
    await waitFor(() => expect(rows()).toHaveLength(world.list().length));
  });

  it('leads on where no run fits', async () => {
    const app = open('/w/acme/runs?q=nothing-is-called-so');
    leave = app.leave;
    await app.user.click(await screen.findByRole('button', { name: 'Clear the filters' }));
    expect(await screen.findByRole('table', { name: 'Runs' })).toBeInTheDocument();
  });
});
