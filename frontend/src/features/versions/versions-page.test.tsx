import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createHandlers } from '../../testing/world/handlers';
import { World } from '../../testing/world/world';

const server = setupServer();
let leave: () => void = () => undefined;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => server.resetHandlers(...createHandlers(new World())));
afterEach(() => {
  leave();
  cleanup();
});
afterAll(() => server.close());

describe('the page of versions', { timeout: 30_000 }, () => {
  it('lists who published what, compares two of them, and tells the history of a step', async () => {
    const { user, router, leave: close } = open('/w/acme/workflows/wf-invoices/versions?show=3');
    leave = close;
    const list = await screen.findByRole('navigation', { name: 'Versions' }, { timeout: 15_000 });
    expect(within(list).getByRole('button', { name: /Version 3.*live/ })).toHaveAttribute('aria-current', 'true');
    const panel = await screen.findByRole('complementary', { name: 'What differs' });
    expect(within(panel).getAllByText('≠ changed')).toHaveLength(1);
    expect(within(panel).getByText('/v2/batch', { exact: false })).toBeVisible();
    await user.click(within(panel).getByRole('button', { name: /Fetch the batch/ }));
    expect(router.state.location.search).toContain('node=');
    const history = await screen.findByRole('list', { name: 'History of the step' });
    expect(within(history).getAllByRole('listitem').length).toBeGreaterThan(1);
    expect(screen.getByRole('link', { name: 'Restore into the draft' })).toHaveAttribute(
      'href',
      '/w/acme/workflows/wf-invoices?restore=3',
    );
  });

  it('says so where nothing was published', async () => {
    leave = open('/w/acme/workflows/wf-empty/versions').leave;
    await waitFor(() => expect(screen.getByText('Nothing was published yet')).toBeVisible(), { timeout: 15_000 });
  });
});
