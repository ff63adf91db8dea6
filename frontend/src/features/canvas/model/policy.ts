import type { Json, JsonObject, Policy } from '../../../diagram';
import { writeDuration } from '../form/duration';

/** The policy as a schema, so that its fields look and behave like those of a step's settings. */
export const POLICY_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    limit_s: {
      type: 'number',
      title: 'Time limit',
      description: 'Of one attempt. Then it is stopped and counts as failed.',
      'x-pawl': { widget: 'duration', literal: true },
    },
    idle_limit_s: {
      type: 'number',
      title: 'Idle limit',
      description: 'Of an attempt that shows no sign of itself: no log, no progress. Then it has timed out.',
      'x-pawl': { widget: 'duration', literal: true },
    },
    queue_limit_s: {
      type: 'number',
      title: 'Limit of waiting for a worker',
      description: 'Ready for longer, the step fails.',
      'x-pawl': { widget: 'duration', literal: true },
    },
    total_limit_s: {
      type: 'number',
      title: 'Limit of all attempts',
      description: 'Together with the pauses between them, since the first start or the last resume.',
      'x-pawl': { widget: 'duration', literal: true },
    },
    skip_if: {
      type: 'string',
      title: 'Leave it out if',
      description: 'An expression that gives true or false, looked at before anything else of the step.',
      examples: ['{{ run.input.dry_run }}'],
      'x-pawl': { widget: 'expression' },
    },
    on_error: {
      enum: ['fail', 'fallback', 'port'],
      default: 'fail',
      title: 'When it fails for good',
      'x-pawl': {
        literal: true,
        labels: {
          fail: 'It is failed, and can be resumed',
          fallback: 'Go on with a fallback output',
          port: 'Leave by the error port',
        },
      },
    },
    fallback: {
      title: 'Fallback output',
      description: 'What others read as its output then.',
      'x-pawl': { widget: 'json', literal: true },
    },
    on_upstream_failure: {
      enum: ['skip', 'wait', 'default', 'fail'],
      default: 'skip',
      title: 'When a step before it fails',
      'x-pawl': {
        literal: true,
        labels: {
          skip: 'Leave it out',
          wait: 'Wait until somebody mends it',
          default: 'Run, with a value in place of its output',
          fail: 'Fail too',
        },
      },
    },
    default: { title: 'In place of the missing output', 'x-pawl': { widget: 'json', literal: true } },
    join: {
      enum: ['all', 'any', 'first', 'count'],
      default: 'all',
      title: 'When several ways lead here',
      'x-pawl': {
        literal: true,
        labels: {
          all: 'Wait for all of them',
          any: 'Go on with the first, let the others run on',
          first: 'Go on with the first, stop the others',
          count: 'Go on when so many are done',
        },
      },
    },
    join_count: {
      type: 'integer',
      minimum: 1,
      title: 'How many',
      description: 'The others run on, and no longer matter.',
      'x-pawl': { literal: true },
    },
    reuse: {
      enum: ['run', 'workflow', 'workspace'],
      title: 'Reuse a result of the same input',
      description: 'The step is not run again where it has succeeded with equal settings.',
      'x-pawl': {
        literal: true,
        labels: {
          run: 'Of the same run: other items',
          workflow: "Of this workflow's runs",
          workspace: 'Of any run of the workspace',
        },
      },
    },
    reuse_for_s: {
      type: 'number',
      default: 86400,
      title: 'No older than',
      'x-pawl': { widget: 'duration', literal: true },
    },
    reuse_effects: {
      type: 'boolean',
      default: false,
      title: 'Although it has effects outside',
      description: 'Where a result is reused, they do not happen again.',
      'x-pawl': { widget: 'switch', literal: true },
    },
    queue: {
      type: 'string',
      default: 'default',
      title: 'Queue',
      description: 'Which workers take it.',
      'x-pawl': { literal: true },
    },
    limit_key: {
      type: 'string',
      title: 'Limit',
      description: 'A name. All steps of the workspace with the same one share the limits below.',
      'x-pawl': { literal: true },
    },
    limit_at_most: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      title: 'At most at once',
      description: 'So many of them run at the same time; the others wait without a worker.',
      'x-pawl': { literal: true },
    },
    rate_starts: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      title: 'At most so many starts',
      description: 'In each period of the length below.',
      'x-pawl': { literal: true },
    },
    rate_per_s: {
      type: 'number',
      title: 'In a period of',
      'x-pawl': { widget: 'duration', literal: true },
    },
  },
};

const WITHOUT_SAYING: { [name: string]: Json } = {
  on_error: 'fail',
  on_upstream_failure: 'skip',
  join: 'all',
  queue: 'default',
  reuse_effects: false,
};

/** Texts that say nothing where they are empty. */
const TEXTS = new Set(['queue', 'skip_if', 'limit_key']);

/** Without what says nothing: fields at their defaults, and those that the choice above no longer asks for. */
export function tidyPolicy(policy: Policy): Policy {
  const entries = Object.entries(policy).filter(([name, value]) => {
    if (value === undefined || value === null)
      return name === 'fallback' || name === 'default' ? value === null : false;
    return value !== WITHOUT_SAYING[name] && !(value === '' && TEXTS.has(name));
  });
  const {
    fallback,
    default: standIn,
    retry,
    join_count: many,
    reuse_for_s: age,
    reuse_effects: anyway,
    limit_at_most,
    rate_starts,
    rate_per_s,
    ...rest
  } = Object.fromEntries(entries) as Policy;
  const limits = Object.fromEntries(
    Object.entries({ limit_at_most, rate_starts, rate_per_s }).filter(([, value]) => value !== undefined),
  );
  const needed = Object.fromEntries(
    Object.entries(retry ?? {}).filter(([, value]) => value !== undefined),
  ) as NonNullable<Policy['retry']>;
  const retries = (needed.attempts ?? 1) > 1;
  return {
    ...(retries ? { retry: needed } : {}),
    ...rest,
    ...(rest.limit_key ? limits : {}),
    ...(rest.join === 'count' ? { join_count: many ?? 2 } : {}),
    ...(rest.reuse && age ? { reuse_for_s: age } : {}),
    ...(rest.reuse && anyway ? { reuse_effects: true } : {}),
    ...(rest.on_error === 'fallback' ? { fallback: fallback ?? null } : {}),
    ...(rest.on_upstream_failure === 'default' ? { default: standIn ?? null } : {}),
  };
}

const ONLY_PASSING = 'Only failures that may pass are tried again.';

/** '3 attempts: pauses of up to 1 s, 2 s.' */
export function retryInWords(retry: Policy['retry']): string {
  const { attempts = 1, first_delay_s = 1, factor = 2, max_delay_s = 300, on } = retry ?? {};
  if (attempts <= 1) return 'It is tried once. A person can resume it.';
  const pauses = Array.from({ length: Math.min(attempts - 1, 6) }, (_, at) =>
    Math.min(first_delay_s * factor ** at, max_delay_s),
  );
  const more = attempts - 1 > pauses.length ? ' and so on' : '';
  const which = on ? `Tried again after ${on.includes('*') ? 'any failure' : on.join(', ')}.` : ONLY_PASSING;
  return `Pauses of up to ${pauses.map(writeDuration).join(', ')}${more}. ${which}`;
}
