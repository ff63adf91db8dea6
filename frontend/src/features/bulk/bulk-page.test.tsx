import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createMockServer } from '../../testing/server';
import { createHandlers } from '../../testing/world/handlers';
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

describe('many runs at once', () => {
  it('are chosen by key, previewed, resumed up to the canary, and continued on the page of the operation', async () => {
    const { user, router, leave: go } = open('/w/acme/runs?status=failed');
    leave = go;
    await screen.findByRole('table', { name: 'Runs' });
    await user.keyboard('jx');
    expect(await screen.findByText('1 chosen')).toBeInTheDocument();
    await user.click(screen.getByRole('checkbox', { name: 'Select all that are listed' }));
    await user.keyboard('r');
    const dialog = await screen.findByRole('dialog', { name: 'Resume the chosen runs' });
    await user.click(await within(dialog).findByRole('checkbox', { name: 'Try 3 first, then wait for me' }));
    const failed = world.list().filter((run) => run.status === 'failed').length;
    await user.click(within(dialog).getByRole('button', { name: `Resume ${failed} runs` }));
    await user.click(await screen.findByRole('button', { name: `Continue with ${failed - 3} runs` }));
    await waitFor(() => expect(screen.getByText('Every run had its turn.')).toBeInTheDocument());
    expect(router.state.location.pathname).toContain('/w/acme/bulk/');
    expect(world.lists.asked[0]).toMatchObject({ operation: 'resume', canary: 3, expected_count: failed });
    expect(world.list().some((run) => run.status === 'failed')).toBe(false);
  });
});

describe('the failure inbox', () => {
  it('resumes a group, and tells then who resolved it', async () => {
    const { user, leave: go } = open('/w/acme/failures');
    leave = go;
    const list = await screen.findByRole('list', { name: 'Open failures' });
    expect(list).toHaveTextContent('<n> from <url>: policy service is being updated');
    await user.click(within(list).getByRole('button', { name: /^Resume \d+ runs…$/ }));
    const dialog = await screen.findByRole('dialog', { name: 'Resume the chosen runs' });
    await user.click(await within(dialog).findByRole('button', { name: /^Resume \d+ runs$/ }));
    await waitFor(() => expect(screen.getByText('Every run had its turn.')).toBeInTheDocument());
    expect(world.lists.asked[0]).toMatchObject({ filter: { fingerprint: '5a1f0c77e2d94b10' } });
  });
});
