import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { open } from '../../../testing/render';
import { createMockServer } from '../../../testing/server';
import { createHandlers } from '../../../testing/world/handlers';
import { World } from '../../../testing/world/world';

const { server } = createMockServer();
let sent: { [key: string]: unknown }[];
let leave: () => void;

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => {
  sent = [];
  server.resetHandlers(...createHandlers(new World()));
});
afterEach(() => {
  leave?.();
  cleanup();
});
afterAll(() => server.close());

const SCHEMA = {
  type: 'object',
  required: ['street', 'country'],
  properties: {
    street: { type: 'string', title: 'Street' },
    country: { title: 'Country', enum: ['CH', 'DE'] },
    express: { type: 'boolean', title: 'Express' },
    floors: { type: 'integer', title: 'Floors' },
    tags: { type: 'array', items: { type: 'string' }, title: 'Tags' },
    contact: { type: 'object', title: 'Contact', properties: { mail: { type: 'string', title: 'Mail' } } },
    rest: { title: 'Rest' },
  },
};

const asked = (kind: string, data: object, more: object = {}) => ({
  id: 'w1',
  kind,
  status: 'open',
  attempt: 1,
  data,
  opened_at: new Date().toISOString(),
  expires_at: null,
  answer: null,
  answered_at: null,
  answered_by: null,
  shown_hash: 'a'.repeat(64),
  votes: [],
  path: 'ask',
  follows: { ports: [{ port: 'approved', steps: [], more: 0 }], inside: null },
  run: { id: 'r1', number: 7, workflow: { id: 'f1', name: 'Orders' }, version: 1 },
  ...more,
});

/** The inbox with one question; `answer` says what the server makes of what is sent. */
function openInbox(question: object, answer: (body: { [key: string]: unknown }) => Response) {
  server.use(
    http.get('*/api/workspaces/acme/waits', () => HttpResponse.json({ items: [question], next: null })),
    http.post('*/api/workspaces/acme/waits/w1/answer', async ({ request }) => {
      const body = (await request.json()) as { [key: string]: unknown };
      sent.push(body);
      return answer(body);
    }),
  );
  const app = open('/w/acme/inbox');
  leave = app.leave;
  return app.user;
}

const taken = () => HttpResponse.json({ decision: 'submitted' });

describe('a form in the inbox', () => {
  it('is drawn from its schema, begins with what is filled in, and sends what was written', async () => {
    const user = openInbox(asked('form', { title: 'Where to?', schema: SCHEMA, initial: { country: 'DE' } }), taken);
    const form = await screen.findByRole('form', { name: 'Form' });
    expect(form).toHaveTextContent('Where to?');
    await user.type(within(form).getByLabelText(/Street/), 'Main 5');
    await user.type(within(form).getByLabelText('Floors'), '12');
    await user.click(within(form).getByLabelText('Express'));
    await user.type(within(form).getByLabelText('Mail'), 'ana@example.com');
    await user.click(within(form).getByRole('button', { name: 'Send' }));
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toMatchObject({
      decision: 'submitted',
      seen: 'a'.repeat(64),
      data: { country: 'DE', street: 'Main 5', floors: 12, express: true, contact: { mail: 'ana@example.com' } },
    });
  });

  it('shows what the server refuses at its field, and takes another try as another answer', async () => {
    const fields = [
      { field: 'data', message: "'street' is a required property" },
      { field: 'data.floors', message: '0 is less than the minimum of 1' },
    ];
    const refusal = {
      code: 'answer_refused',
      status: 400,
      detail: '2 fields are not as they must be.',
      data: { fields },
    };
    const user = openInbox(asked('form', { title: 'Where to?', schema: SCHEMA }), () =>
      HttpResponse.json(refusal, { status: 400 }),
    );
    const form = await screen.findByRole('form', { name: 'Form' });
    await user.click(within(form).getByRole('button', { name: 'Send' }));
    expect(await within(form).findByText('0 is less than the minimum of 1')).toBeInTheDocument();
    expect(within(form).getByRole('alert')).toHaveTextContent("'street' is a required property");
    await user.type(within(form).getByLabelText(/Street/), 'Main 5');
    await user.click(within(form).getByRole('button', { name: 'Send' }));
    await waitFor(() => expect(sent).toHaveLength(2));
    expect(sent[0]?.command_id).not.toBe(sent[1]?.command_id);
  });
});

describe('an approval by several people', () => {
  it('says how many are needed and who has answered, and that one more answer counts', async () => {
    const vote = { name: 'Ben', decision: 'approved', comment: 'looks right', at: new Date().toISOString() };
    const data = { title: 'Pay?', data: { sum: 7 }, approvals_needed: 3, rejections_needed: 1 };
    const user = openInbox(asked('approval', data, { votes: [vote] }), () =>
      HttpResponse.json({ decision: 'approved', decided: null, approvals: 2, rejections: 0 }),
    );
    const form = await screen.findByRole('region', { name: 'Approval' });
    expect(form).toHaveTextContent('1 of 3 approvals. One rejection rejects it.');
    expect(within(form).getByRole('list', { name: 'Answers so far' })).toHaveTextContent('Ben approved it');
    expect(within(form).queryByText('Change the data before answering')).toBeNull();
    await user.click(within(form).getByRole('button', { name: 'Approve' }));
    expect(await screen.findByText('Your answer counts. Others have to answer too.')).toBeInTheDocument();
  });
});
