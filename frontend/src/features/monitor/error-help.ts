import type { StepError } from '../../api/types';

export interface Help {
  meaning: string;
  advice: string;
}

const MEND = 'Mend the cause outside, then resume: finished steps are kept.';

const HELP: { [code: string]: Help } = {
  timed_out: {
    meaning: 'The attempt took longer than its time limit and was stopped.',
    advice: 'Look at the log for where it hung. Resume tries it again; a longer limit needs a new version.',
  },
  lost: {
    meaning: 'The worker that executed it died or was cut off before its result was committed.',
    advice: 'Resume runs it again with the same idempotency key. What it had kept as partial output is still there.',
  },
  oom: {
    meaning: 'The body needed more memory than it is allowed.',
    advice: 'Give it less at once, for example by a map over parts, and publish a new version.',
  },
  poison: {
    meaning: 'Its process crashed several times in a row, so it is no longer tried.',
    advice: 'Look at the log of the last attempt. Resume gives it one more try.',
  },
  connection_missing: {
    meaning: 'The connection that this step names does not exist in this workspace.',
    advice: 'Add a connection of that name on the Connections page, then resume.',
  },
  bad_connection: {
    meaning: 'The settings of the connection do not fit this step.',
    advice: 'Correct the connection on the Connections page, then resume.',
  },
  outbound_refused: {
    meaning: 'Steps may not reach private, local or metadata addresses.',
    advice: 'Use a public address, or have the one who runs Pawl allow this host and port.',
  },
  items_failed: {
    meaning: 'Some items of this container could not be finished; the others are kept.',
    advice: 'Look at the failed items below. Resume runs only those.',
  },
  round_failed: {
    meaning: 'A round of this loop could not be finished; the rounds before it are kept.',
    advice: 'Look at the failed round below. Resume goes on in it.',
  },
  maximum_reached: {
    meaning: 'The loop has had all the rounds that it may have, and its condition is still not met.',
    advice: 'See what the last round gave. More rounds, or another condition, need a new version.',
  },
  expression_failed: {
    meaning: 'An expression of this step could not be worked out with the outputs that were there.',
    advice: 'Compare the expression with the inputs below. A corrected expression needs a new version.',
  },
};

const BY_WORD: readonly [RegExp, Help][] = [
  [/expression|undefined/, HELP.expression_failed as Help],
  [/time.?out|limit/, HELP.timed_out as Help],
  [/lost|crash|died/, HELP.lost as Help],
  [/memory/, HELP.oom as Help],
  [/address|outbound|forbidden_host/, HELP.outbound_refused as Help],
  [/rejected/, { meaning: 'A person rejected it.', advice: 'Nothing runs on by itself. Resume asks again.' }],
  [
    /http|status|unreachable|connect|refused|network|smtp|sql|database/,
    {
      meaning: 'The other side did not do what was asked.',
      advice: 'See whether it works by now. Resume tries again with the same idempotency key, so it can tell a repeat.',
    },
  ],
  [
    /schema|valid|config/,
    {
      meaning: 'The data that this step was given does not have the shape that it needs.',
      advice: 'Compare the input below with what the step expects. Mend the source, then resume.',
    },
  ],
];

/** What an error means, and what one can do, in the words of somebody who has never seen the code. */
export function helpFor({ code, message }: StepError): Help {
  const known = HELP[code];
  if (known) return known;
  const text = `${code} ${message}`.toLowerCase();
  const byCode = BY_WORD.find(([word]) => word.test(code.toLowerCase()));
  const found = byCode ?? BY_WORD.find(([word]) => word.test(text));
  return found?.[1] ?? { meaning: 'The step itself says that it could not do its work.', advice: MEND };
}
