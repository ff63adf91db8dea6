import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../testing/render';
import { createHandlers } from '../../testing/world/handlers';
import { WORKFLOWS } from '../../testing/world/people';
import { World } from '../../testing/world/world';
import { draftOf, emptyForm } from './draft';
import { createTriggerHandlers, TriggerWorld } from './testing/handlers';
import { timeOf } from './words';

const server = setupServer();
const [invoices, other] = WORKFLOWS;
let triggers: TriggerWorld;
let leave: () => void = () => undefined;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => {
  triggers = new TriggerWorld();
  server.resetHandlers(...createTriggerHandlers(triggers), ...createHandlers(new World()));
});
afterEach(() => {
  leave();
  cleanup();
});
afterAll(() => server.close());

async function openTriggers(ws = 'acme') {
  const app = open(`/w/${ws}/workflows/${invoices?.id}/triggers`);
  leave = app.leave;
  await screen.findByRole('heading', { name: 'Triggers' }, { timeout: 10_000 });
  return app;
}

const schedule = () =>
  triggers.make(invoices?.id ?? '', {
    kind: 'schedule',
    name: 'Nightly',
    settings: { cron: '0 2 * * *', zone: 'UTC' },
  });

describe('the triggers of a workflow', { timeout: 60_000 }, () => {
  it('makes a schedule, whose next times are shown before it is saved', async () => {
    const { user } = await openTriggers();
    await user.click((await screen.findAllByRole('button', { name: 'New trigger' }))[0] as HTMLElement);
    const times = await screen.findByRole('list', { name: 'The next times' });
    await waitFor(() => expect(within(times).getAllByRole('listitem')).toHaveLength(5));
    expect(times).toHaveTextContent('2027-03-28 02:00, moved: the clock is put forward');
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'Nightly');
    await user.click(screen.getByRole('textbox', { name: 'Input' }));
    await user.paste('{"id": 7615917337495251231}');
    await user.click(screen.getByRole('button', { name: 'Add the trigger' }));
    const row = await screen.findByRole('row', { name: /Nightly/ });
    expect(row).toHaveTextContent(/Schedule.*0 2 \* \* \*.*2027-03-27 02:00.*not yet/);
    expect(triggers.all[0]?.settings.input).toEqual({ id: 7615917337495251231n });
  });

  it('says what is wrong with an expression and keeps nothing', async () => {
    const { user } = await openTriggers();
    await user.click((await screen.findAllByRole('button', { name: 'New trigger' }))[0] as HTMLElement);
    const when = await screen.findByRole('textbox', { name: 'When' });
    await user.clear(when);
    await user.type(when, '0 0 30 2 *');
    expect(await screen.findByText('It is never due.')).toBeVisible();
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'Never');
    await user.click(screen.getByRole('button', { name: 'Add the trigger' }));
    await waitFor(() => expect(screen.getAllByText('It is never due.').length).toBeGreaterThan(1));
    expect(triggers.all).toEqual([]);
  });

  it('shows the secret of a webhook once', async () => {
    const { user } = await openTriggers();
    await user.click((await screen.findAllByRole('button', { name: 'New trigger' }))[0] as HTMLElement);
    await user.click(await screen.findByRole('combobox', { name: 'What starts the run' }));
    await user.click(await screen.findByRole('option', { name: 'Webhook' }));
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'Orders');
    await user.click(screen.getByRole('button', { name: 'Add the trigger' }));
    expect(await screen.findByText('whsec_shown-once')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'I have kept it' }));
    await waitFor(() => expect(screen.queryByText('whsec_shown-once')).toBeNull());
    expect(await screen.findByRole('row', { name: /Orders/ })).toHaveTextContent('/hooks/qz4v7c1k');
  });

  it("follows another workflow's end", async () => {
    const { user } = await openTriggers();
    await user.click((await screen.findAllByRole('button', { name: 'New trigger' }))[0] as HTMLElement);
    await user.click(await screen.findByRole('combobox', { name: 'What starts the run' }));
    await user.click(await screen.findByRole('option', { name: "Another workflow's end" }));
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'After');
    await user.click(await screen.findByRole('combobox', { name: 'The workflow whose runs end' }));
    await user.click(await screen.findByRole('option', { name: other?.name ?? '' }));
    await user.click(screen.getByRole('checkbox', { name: 'failed' }));
    await user.click(screen.getByRole('button', { name: 'Add the trigger' }));
    expect(await screen.findByRole('row', { name: /After/ })).toHaveTextContent(
      `when '${other?.name}' succeeded or failed`,
    );
  });

  it('disables, shows the ledger, and deletes after asking', async () => {
    schedule();
    triggers.fire({ id: 'run-1', number: 1042 });
    const { user } = await openTriggers();
    await user.click(await screen.findByRole('switch', { name: 'Nightly is enabled' }));
    await waitFor(() => expect(triggers.all[0]?.enabled).toBe(false));
    const act = async (item: string) => {
      await user.click(await screen.findByRole('button', { name: 'More about Nightly' }));
      await user.click(await screen.findByRole('menuitem', { name: item }));
    };
    await act('Ledger');
    const ledger = await screen.findByRole('table', { name: 'Ledger' });
    expect(within(ledger).getByRole('link', { name: '1042 succeeded' })).toHaveAttribute('href', '/w/acme/runs/run-1');
    expect(ledger).toHaveTextContent(/skipped.*the run before was still going on.*failed.*The workflow is archived/);
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('table', { name: 'Ledger' })).toBeNull());
    await act('Delete');
    await user.click(await screen.findByRole('button', { name: 'Delete the trigger' }));
    await waitFor(() => expect(triggers.all).toEqual([]));
  });

  it('shows a viewer the triggers and no way to change them', async () => {
    schedule();
    await openTriggers('lab');
    expect(await screen.findByRole('switch', { name: 'Nightly is enabled' })).toBeDisabled();
    expect(screen.queryByRole('button', { name: 'New trigger' })).toBeNull();
  });
});

describe('what the fields say', () => {
  it('keeps long integers, and tells what is no JSON', () => {
    const form = { ...emptyForm('UTC'), name: ' x ', input: '[17169973925117969]' };
    expect(draftOf(form)).toMatchObject({ draft: { name: 'x', settings: { input: [17169973925117969n] } } });
    expect(draftOf({ ...form, input: '{' })).toMatchObject({ problem: expect.stringContaining('not JSON') });
    expect(draftOf({ ...form, input: '' })).not.toHaveProperty('draft.settings.input');
  });

  it('marks the changes of the clock', () => {
    const one = { at: '2026-10-25T00:30:00Z', local: '2026-10-25T02:30:00+02:00' };
    expect(timeOf({ ...one, clock: 'back' })).toBe('2026-10-25 02:30, as the clock is put back');
    expect(timeOf({ ...one, clock: null })).toBe('2026-10-25 02:30');
  });
});
