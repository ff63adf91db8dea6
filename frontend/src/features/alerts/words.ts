import { formatCount } from '../../lib/format';
import type { Alert, AlertDraft, AlertEvent, Delivery } from './api';

export const EVENTS: readonly { name: AlertEvent; label: string; hint: string }[] = [
  { name: 'failed', label: 'A run fails', hint: 'Nothing of it can go on until somebody resumes it.' },
  { name: 'deadline', label: 'A run passes its deadline', hint: 'It did not end in the time that it was given.' },
  {
    name: 'silent',
    label: 'A start does not happen',
    hint: 'A schedule was due and nothing ran, or a trigger could not start its workflow.',
  },
  { name: 'no_worker', label: 'A lane has no worker', hint: 'Steps are ready, and nobody takes them.' },
  {
    name: 'question',
    label: 'A question waits for a person',
    hint: 'With a link that leads to it and answers nothing.',
  },
];

/** 'a run fails, a lane has no worker' */
export function eventsOf({ events }: Pick<Alert, 'events'>): string {
  const labels = EVENTS.filter((one) => events.includes(one.name)).map((one) => one.label);
  return labels.map((label) => label.charAt(0).toLowerCase() + label.slice(1)).join(', ');
}

/** 5 minutes, 1 hour, 1 day; '' for none. */
export function quietOf(seconds: number): string {
  if (seconds === 0) return '';
  if (seconds % 86_400 === 0) return formatCount(seconds / 86_400, 'day');
  if (seconds % 3600 === 0) return formatCount(seconds / 3600, 'hour');
  return seconds % 60 === 0 ? formatCount(seconds / 60, 'minute') : formatCount(seconds, 'second');
}

export function targetOf(alert: Pick<Alert, 'channel' | 'recipients' | 'url'>): string {
  return alert.channel === 'mail' ? `Mail to ${alert.recipients.join(', ')}` : `Request to ${alert.url}`;
}

export const QUIET = [0, 60, 300, 900, 3600, 86_400].map((seconds) => ({
  value: String(seconds),
  label: seconds === 0 ? 'Never quiet' : `For ${quietOf(seconds)}`,
}));

/** What a delivery told, in a few words. */
export function toldBy({ is_test, fact_count, facts }: Delivery): string {
  if (is_test) return 'A test';
  const first = facts[0]?.text ?? formatCount(fact_count, 'thing');
  return fact_count > 1 ? `${first}, and ${(fact_count - 1).toLocaleString('en')} more` : first;
}

export const emptyDraft = (workflow: string | null, hasOwnMail: boolean, smtp: readonly string[]): AlertDraft => ({
  name: '',
  workflow,
  channel: 'mail',
  events: ['failed', 'deadline', 'silent', 'no_worker'],
  recipients: [],
  connection: hasOwnMail ? '' : (smtp[0] ?? ''),
  url: '',
  quiet_s: 300,
  no_worker_s: 120,
});

export const draftOf = (alert: Alert): AlertDraft => ({
  name: alert.name,
  workflow: alert.workflow?.id ?? null,
  channel: alert.channel,
  events: [...alert.events],
  recipients: [...alert.recipients],
  connection: alert.connection,
  url: alert.url,
  quiet_s: alert.quiet_s,
  no_worker_s: alert.no_worker_s,
});

/** Whether it could be sent to the server; what is wrong beyond this, the server says at its field. */
export const isReady = (draft: AlertDraft): boolean =>
  draft.name.trim() !== '' &&
  draft.events.length > 0 &&
  (draft.channel === 'mail' ? draft.recipients.length > 0 : draft.url.trim() !== '');
