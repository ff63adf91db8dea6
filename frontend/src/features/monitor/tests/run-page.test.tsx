import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../../testing/render';
import { createMockServer } from '../../../testing/server';
import { createHandlers } from '../../../testing/world/handlers';
import { SESSION } from '../../../testing/world/people';
import { World } from '../../../testing/world/world';

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

function openRun(id: string, query = '') {
  const app = open(`/w/acme/runs/${id}${query}`);
  leave = app.leave;
  return app;
}

/** Hands on what happens to a run from now on, as the server would. */
function follow(id: string, end: ReturnType<typeof open>['end']) {
  world.onEvents((run, events) => {
    if (run.run.id === id) end.say({ type: 'events', run: id, events, last: run.state.seq });
  });
}

const headSentence = () => screen.findByTestId('head-sentence');

describe('the page of a run', () => {
  it('says in one sentence what happened, and what the next click does', async () => {
    openRun('run-failed');
    expect(await headSentence()).toHaveTextContent("Failed at '8 Compliance check': PolicyServiceUnavailable");
    expect(await screen.findByText(/Resume keeps 8 finished steps and runs 6/)).toBeInTheDocument();
  });

  it('shows the plan of a resume first, and resumes at the second click', async () => {
    const { user, end } = openRun('run-failed');
    follow('run-failed', end);
    await user.click(await screen.findByRole('button', { name: 'Resume from 8 Compliance check' }));
    const plan = await screen.findByRole('region', { name: 'Plan of the resume' });
    expect(plan).toHaveTextContent('act outside, with the same key as before');
    expect(world.find('run-failed')?.run.status).toBe('failed');
    await user.click(within(plan).getByRole('button', { name: /^Resume/ }));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Plan of the resume' })).toBeNull());
    expect(world.find('run-failed')?.run).toMatchObject({ status: 'running', generation: 2 });
    expect(await screen.findByText(/waits for a free worker/)).toBeInTheDocument();
  });

  it('tells of a resume that somebody else did first', async () => {
    const { user } = openRun('run-failed');
    const resume = await screen.findByRole('button', { name: 'Resume from 8 Compliance check' });
    await user.click(resume);
    const run = world.find('run-failed');
    if (!run) throw new Error('the fixture has no such run');
    world.resume(run, 'Milo');
    await user.click(await screen.findByRole('button', { name: /^Resume/ }));
    expect(await screen.findByText(/Somebody resumed this run before you/)).toBeInTheDocument();
    expect(run.run.generation).toBe(2);
  });

  it('offers nothing to a viewer that a viewer may not do', async () => {
    const viewer = { ...SESSION, workspaces: [{ slug: 'acme', name: 'Acme', role: 'viewer', permissions: ['view'] }] };
    server.use(http.get('/api/session', () => HttpResponse.json(viewer)));
    openRun('run-failed', '?step=compliance');
    await headSentence();
    await screen.findByText('What it means');
    expect(screen.queryByRole('button', { name: /^Resume/ })).toBeNull();
  });

  it('opens the step of the address: error, attempts and idempotency key', async () => {
    openRun('run-failed', '?step=compliance&attempt=1');
    const panel = await screen.findByRole('complementary', { name: 'Step 8 Compliance check' });
    expect(await within(panel).findByText('What it means')).toBeInTheDocument();
    expect(within(panel).getByRole('button', { name: /^Attempt 1: failed/ })).toHaveAttribute('aria-pressed', 'true');
    expect(within(panel).getByText(/^7f3a/)).toBeInTheDocument();
  });

  it('keeps the selection in the address', async () => {
    const { user, router } = openRun('run-failed', '?view=events');
    const [event] = await screen.findAllByText('7 Apply corrections', { selector: 'td button' });
    await user.click(event as HTMLElement);
    expect(router.state.location.search).toBe('?view=events&step=corrections');
    await user.click(await screen.findByText('Logs'));
    expect(router.state.location.search).toContain('tab=logs');
    expect(
      await screen.findByText(/503 Service Unavailable/, { selector: '[aria-label="Log"] span' }),
    ).toBeInTheDocument();
  });

  it('shows integers of 64 bits as they are', async () => {
    const { user } = openRun('run-failed', '?step=corrections&tab=output');
    await user.click(await screen.findByRole('button', { name: 'Table' }));
    expect(await screen.findByText('900719925474099311')).toBeInTheDocument();
  });

  it('lets a person answer an approval where the run waits for it', async () => {
    const { user, end } = openRun('run-waiting', '?step=review');
    follow('run-waiting', end);
    expect(await headSentence()).toHaveTextContent("'6 Review' waits for a person");
    await user.click(await screen.findByRole('button', { name: 'Approve' }));
    await waitFor(() => expect(world.find('run-waiting')?.state.steps.get('review')?.port).toBe('approved'));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull());
  });

  it('asks what became of a step whose outcome is unknown', async () => {
    const { user, end } = openRun('run-undecided', '?step=notify');
    follow('run-undecided', end);
    const button = await screen.findByRole('button', { name: 'Choose what happened' });
    expect(button).toBeDisabled();
    await user.click(screen.getByRole('radio', { name: /^It happened/ }));
    await user.click(screen.getByRole('button', { name: 'Show what it does' }));
    await user.click(await screen.findByRole('button', { name: 'Take 11 Notify as finished' }));
    await waitFor(() => expect(world.find('run-undecided')?.state.steps.get('notify')?.status).toBe('succeeded'));
  });

  it('cancels after one question', async () => {
    const { user, end } = openRun('run-running');
    follow('run-running', end);
    await user.click(await screen.findByRole('button', { name: 'Cancel run' }));
    await user.click(await screen.findByRole('button', { name: 'Cancel the run' }));
    expect(await screen.findByText(/What was finished is kept/)).toBeInTheDocument();
  });

  it('pauses and continues by the button and by its key, and says who did', async () => {
    const { user, end } = openRun('run-running');
    follow('run-running', end);
    await user.click(await screen.findByRole('button', { name: 'Pause' }));
    await waitFor(async () => expect(await headSentence()).toHaveTextContent('Paused by Ana: nothing new starts'));
    expect(await headSentence()).toHaveTextContent('4 steps that run go on to their end');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByRole('button', { name: 'Pause' });
    await user.keyboard('p');
    await screen.findByRole('button', { name: 'Continue' });
  });

  it('leaves Enter to the button that has the focus, also while a plan is shown', async () => {
    const { user } = openRun('run-failed');
    (await screen.findByRole('button', { name: 'Resume from 8 Compliance check' })).focus();
    await user.keyboard('{Enter}');
    const plan = await screen.findByRole('region', { name: 'Plan of the resume' });
    within(plan).getByRole('button', { name: 'Not now' }).focus();
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('region', { name: 'Plan of the resume' })).toBeNull();
    expect(world.find('run-failed')?.run.status).toBe('failed');
  });

  it('lists the failed items of a map first', async () => {
    openRun('run-map', '?step=ocr_documents');
    const items = await screen.findByRole('region', { name: 'Items' });
    const rows = await within(items).findAllByRole('listitem');
    expect(rows[0]).toHaveTextContent('scan-6.pdf');
    expect(items).toHaveTextContent('40 of 40 done, 3 failed');
  });

  it('of another workspace does not exist', async () => {
    openRun('run-of-nobody');
    expect(await screen.findByText(/There is no such page for this run/)).toBeInTheDocument();
  });
});
