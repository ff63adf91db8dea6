import { formatTick } from '../../lib/format';
import type { Firing, Trigger, TriggerKind, Upcoming } from './api';

export const KINDS: Record<TriggerKind, string> = {
  schedule: 'Schedule',
  webhook: 'Webhook',
  run_end: "Another workflow's end",
};

export const OVERLAPS = {
  queue: 'wait for its end',
  skip: 'leave the next one out',
  cancel_other: 'cancel it, then start',
  allow: 'start all the same',
};

export const MISFIRES = {
  run_once: 'one late run for all',
  skip: 'no late run',
  all: 'a late run for each, the newest ten',
};

export const SECURITIES = {
  hmac: 'a signature of each delivery',
  bearer: 'the secret as a bearer token',
  none: 'nothing: whoever knows the address',
};

const REASONS: Record<string, string> = {
  late: 'nobody was there at its time',
  still_running: 'the run before was still going on',
  replaced: 'a newer one took its place',
  queue_full: 'a hundred waited already',
  disabled: 'the trigger was disabled',
};

export function whatOf(trigger: Trigger, workflowName: (id: string) => string): string {
  const { settings } = trigger;
  if (trigger.kind === 'schedule') return `${String(settings.cron)} (${String(settings.zone)})`;
  if (trigger.kind === 'webhook') return trigger.path ?? 'a secret address';
  const ends = Array.isArray(settings.on) ? settings.on.map(String).join(' or ') : '';
  return `when '${workflowName(String(settings.source))}' ${ends}`;
}

export function reasonOf(firing: Firing): string {
  if (firing.detail) return firing.detail;
  if (firing.is_backfill) return 'asked for later';
  return firing.reason ? (REASONS[firing.reason] ?? firing.reason) : '';
}

export const timeOf = (upcoming: Upcoming): string => formatTick(upcoming);
