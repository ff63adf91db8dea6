import { describe, expect, it } from 'vitest';

import type { Delivery } from '../api';
import { emptyDraft, eventsOf, isReady, quietOf, targetOf, toldBy } from '../words';

const delivery = (more: Partial<Delivery>): Delivery => ({
  id: 'd1',
  status: 'sent',
  is_test: false,
  facts: [{ kind: 'failed', at: '2026-03-01T10:00:00Z', text: 'Run 7 of Orders failed', run: 'r7' }],
  fact_count: 1,
  attempts: 1,
  error: null,
  next_at: null,
  created_at: '2026-03-01T10:00:00Z',
  sent_at: null,
  ...more,
});

describe('an alert in words', () => {
  it('names what it tells of, in one order', () => {
    expect(eventsOf({ events: ['no_worker', 'failed'] })).toBe('a run fails, a lane has no worker');
  });

  it('names whom it tells', () => {
    expect(targetOf({ channel: 'mail', recipients: ['a@x.ch', 'b@x.ch'], url: '' })).toBe('Mail to a@x.ch, b@x.ch');
    expect(targetOf({ channel: 'webhook', recipients: [], url: 'https://x.ch' })).toBe('Request to https://x.ch');
  });

  it.each([
    [0, ''],
    [45, '45 seconds'],
    [300, '5 minutes'],
    [3600, '1 hour'],
    [86_400, '1 day'],
  ])('is quiet for %s s: %s', (seconds, told) => expect(quietOf(seconds)).toBe(told));

  it('says of a delivery what it told first, and how much more', () => {
    expect(toldBy(delivery({}))).toBe('Run 7 of Orders failed');
    expect(toldBy(delivery({ fact_count: 1000 }))).toBe('Run 7 of Orders failed, and 999 more');
    expect(toldBy(delivery({ is_test: true, facts: [], fact_count: 0 }))).toBe('A test');
  });
});

describe('a new alert', () => {
  it('is sent by what there is: the own server, else the first SMTP connection', () => {
    expect(emptyDraft(null, true, ['mailbox']).connection).toBe('');
    expect(emptyDraft(null, false, ['mailbox']).connection).toBe('mailbox');
  });

  it('can be added once it has a name, an event and somebody to tell', () => {
    const draft = { ...emptyDraft(null, true, []), name: 'Night', recipients: ['a@x.ch'] };
    expect(isReady(draft)).toBe(true);
    expect(isReady({ ...draft, name: ' ' })).toBe(false);
    expect(isReady({ ...draft, events: [] })).toBe(false);
    expect(isReady({ ...draft, recipients: [] })).toBe(false);
    expect(isReady({ ...draft, channel: 'webhook' })).toBe(false);
  });
});
