import type { FailureGroup } from '../../api/failures';
import { formatCount } from '../../lib/format';

const KINDS: { [kind: string]: string } = { run: 'the run itself' };

/** '12 runs stand failed', 'at least 500 runs stand failed', 'no run stands failed any more'. */
export function standingSentence({ standing }: Pick<FailureGroup, 'standing'>): string {
  if (standing.count === 0) return 'no run stands failed any more';
  const verb = standing.count === 1 ? 'stands' : 'stand';
  return `${standing.is_exact ? '' : 'at least '}${formatCount(standing.count, 'run')} ${verb} failed`;
}

export const kindWord = (kind: string): string => KINDS[kind] ?? kind.replaceAll('_', ' ');

export function workflowsSentence({ workflows, workflow_count }: FailureGroup): string {
  const names = workflows.slice(0, 2).map((one) => one.name || 'a deleted workflow');
  const more = workflow_count - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

const DID: { [operation: string]: string } = {
  resume: 'resumed',
  cancel: 'cancelled',
  skip: 'skipped the step of',
  supply: 'supplied the output of',
  edit_input: 'edited the input of',
  decide: 'decided about',
  fork: 'forked',
};

export function resolvedSentence({ resolved_by: by }: Pick<FailureGroup, 'resolved_by'>): string {
  if (!by) return 'its runs are gone or went on';
  return `${by.actor} ${DID[by.operation] ?? `did '${by.operation}' to`} the last of them`;
}

/** Whether it happened again after somebody had said something about it. */
export const cameAgain = ({
  state,
  state_at,
  last_at,
}: Pick<FailureGroup, 'state' | 'state_at' | 'last_at'>): boolean =>
  state !== 'open' && state_at !== null && Date.parse(last_at) > Date.parse(state_at);
