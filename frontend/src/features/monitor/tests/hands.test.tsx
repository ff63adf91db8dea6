import { EditorView } from '@codemirror/view';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../../testing/render';
import { createMockServer } from '../../../testing/server';
import { createHandlers } from '../../../testing/world/handlers';
import { SESSION, WORKFLOWS } from '../../../testing/world/people';
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
  world.onEvents((run, events) => {
    if (run.run.id === id) app.end.say({ type: 'events', run: id, events, last: run.state.seq });
  });
  return app;
}

const button = (name: string | RegExp) => screen.findByRole('button', { name });
const plan = (name: string) => screen.findByRole('region', { name: `Plan of the ${name}` });

/** Types into the editor as a hand would paste. */
async function write(label: string, text: string) {
  const field = await screen.findByRole('textbox', { name: label });
  const view = EditorView.findFromDOM(field.closest('.cm-editor') as HTMLElement);
  view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

describe('the hands of an operator', () => {
  it('skip a step: the plan first, and then just that', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Skip'));
    const shown = await plan('skip');
    expect(shown).toHaveTextContent("'8 Compliance check' is left out");
    expect(shown).toHaveTextContent('There is no undo');
    expect(world.find('run-failed')?.state.steps.get('compliance')?.status).toBe('failed');
    await user.click(within(shown).getByRole('button', { name: 'Skip 8 Compliance check' }));
    await waitFor(() => expect(world.find('run-failed')?.state.steps.get('compliance')?.status).toBe('skipped'));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Plan of the skip' })).toBeNull());
  });

  it('give an output by hand, to the last digit of its integers; what is no JSON is told under the field', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Supply output'));
    await write('Output of the step', '{"verdict": ');
    await user.click(await button('Show what it does'));
    expect(await screen.findByText(/^This is not JSON/)).toBeInTheDocument();
    await write('Output of the step', '{"verdict": "fine", "case": 7615917337495251231}');
    await user.click(await button('Show what it does'));
    const shown = await plan('supplied output');
    expect(shown).toHaveTextContent('succeeds with your output, marked manual');
    await user.click(await button('Supply the output of 8 Compliance check'));
    await waitFor(() => expect(world.given).toHaveLength(1));
    expect(world.given[0]).toMatchObject({ output: { verdict: 'fine', case: 7615917337495251231n } });
  });

  it('edit the input: what the step refuses is told under the field, and a changed text closes its plan', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Edit input and resume'));
    await write('Input of the step', '{"method": "POST"}');
    await user.click(await button('Show what it does'));
    const problems = await screen.findByRole('alert', { name: 'What is wrong with: Input of the step' });
    expect(problems).toHaveTextContent('url: Input should be a valid string');
    expect(await button('Resume 8 Compliance check on this input')).toBeDisabled();
    await write('Input of the step', '{"method": "POST", "url": "/elsewhere"}');
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Plan of the edited input' })).toBeNull());
    await user.click(await button('Show what it does'));
    expect(await plan('edited input')).toHaveTextContent('The old input stays on its attempts');
    await user.click(await button('Resume 8 Compliance check on this input'));
    await waitFor(() => expect(world.given[0]).toMatchObject({ input: { url: '/elsewhere' } }));
  });

  it('say what changed where the run went on, and show the plan as it is now', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Skip'));
    world.moved.add('run-failed');
    await user.click(await button('Skip 8 Compliance check'));
    expect(await screen.findByText(/^Nothing was done, since meanwhile/)).toBeInTheDocument();
    expect(world.given).toHaveLength(0);
    await user.click(await button('Skip 8 Compliance check'));
    await waitFor(() => expect(world.given).toHaveLength(1));
  });

  it('run a step again in a new run: on which version, what is kept and why; the page then is the new run', async () => {
    server.use(
      http.get('/api/workspaces/:ws/workflows/:id', () => HttpResponse.json({ ...WORKFLOWS[0], live_version: 4 })),
    );
    const { user, router } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Run again from here'));
    const shown = await plan('fork');
    expect(
      await within(shown).findByRole('row', { name: /8 Compliance check.*runs again.*It was chosen/ }),
    ).toBeVisible();
    expect(shown).toHaveTextContent('May take effect twice');
    expect(shown).toHaveTextContent('This run stays as it is.');
    await user.click(await within(shown).findByRole('radio', { name: 'Version 4, the newest' }));
    expect(await within(shown).findByText(/A new run on version 4 goes on/)).toBeInTheDocument();
    await user.click(within(shown).getByRole('checkbox', { name: /idempotency keys/ }));
    expect(await within(shown).findByText(/with the same key as before/)).toBeInTheDocument();
    await user.click(await button('Start a new run from 8 Compliance check'));
    await waitFor(() => expect(router.state.location.pathname).toMatch(/run-fork/));
  });

  it('give the keyboard back to where it was', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    (await button('Skip')).focus();
    await user.keyboard('{Enter}');
    expect(await plan('skip')).toHaveFocus();
    await user.keyboard('{Escape}');
    await waitFor(async () => expect(await button('Skip')).toHaveFocus());
  });

  it('are all there by key, and Escape leaves them one by one', async () => {
    const { user } = openRun('run-failed', '?step=compliance');
    await button('Skip');
    await user.keyboard('s');
    await plan('skip');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('region', { name: 'Plan of the skip' })).toBeNull();
    await user.keyboard('o');
    await screen.findByRole('region', { name: 'Give the output by hand' });
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('region', { name: 'Give the output by hand' })).toBeNull();
    await user.keyboard('f');
    await plan('fork');
  });

  it('set and remove breakpoints by key and in the panel, and hear of what others set', async () => {
    const { user } = openRun('run-running', '?step=report');
    const run = world.find('run-running');
    await user.click(await button('Pause before this step'));
    await button('Remove the breakpoint');
    expect(run?.run).toMatchObject({ breakpoints: [{ node: 'n_report' }] });
    await user.keyboard('b');
    await button('Pause before this step');
    if (!run) throw new Error('the fixture has no such run');
    run.state = { ...run.state, run: { ...run.state.run, breakpoints: [{ path: 'report' }] } };
    world.act(run, (one) => one.tell('command', null, { operation: 'breakpoints' }), 'Milo');
    await user.click(await button('Remove the breakpoint'));
    await waitFor(() => expect(run.state.run.breakpoints).toEqual([]));
  });

  it('are in the menu of a step, with the one item that it stands for', async () => {
    const { user } = openRun('run-map', '?step=ocr_documents%5B6%5D.read');
    await screen.findByRole('button', { name: 'Skip' });
    await user.pointer({ target: await screen.findByRole('group', { name: /key read$/ }), keys: '[MouseRight]' });
    await user.click(await screen.findByRole('menuitem', { name: 'Pause only before Read the text (item 6)' }));
    const run = world.find('run-map');
    await waitFor(() => expect(run?.run).toMatchObject({ breakpoints: [{ path: 'ocr_documents[6].read' }] }));
    await user.pointer({ target: await screen.findByRole('group', { name: /key read$/ }), keys: '[MouseRight]' });
    await user.click(await screen.findByRole('menuitem', { name: 'Resume from here' }));
    await plan('resume');
  });

  it('find the forks of a run, and a fork tells of the run and the step that it came from', async () => {
    const { user, router } = openRun('run-failed', '?step=compliance');
    await user.click(await button('Run again from here'));
    await user.click(await button('Start a new run from 8 Compliance check'));
    const origin = await screen.findByRole('link', { name: 'run 1042' });
    expect(origin.parentElement).toHaveTextContent("fork of run 1042 from '8 Compliance check'");
    await user.click(origin);
    expect(router.state.location.search).toBe('?step=compliance');
    await user.click(await button('1 fork'));
    await user.click(await screen.findByRole('menuitem', { name: /^Run 10/ }));
    expect(router.state.location.pathname).toMatch(/run-fork/);
  });

  it('are not offered to a viewer', async () => {
    const viewer = { ...SESSION, workspaces: [{ slug: 'acme', name: 'Acme', role: 'viewer', permissions: ['view'] }] };
    server.use(http.get('/api/session', () => HttpResponse.json(viewer)));
    const { user } = openRun('run-failed', '?step=compliance');
    await screen.findByText('What it means');
    for (const name of ['Skip', 'Supply output', 'Edit input and resume', 'Run again from here', 'Pause']) {
      expect(screen.queryByRole('button', { name })).toBeNull();
    }
    await user.keyboard('sfoip');
    expect(screen.queryByRole('region', { name: /^Plan of/ })).toBeNull();
  });
});
