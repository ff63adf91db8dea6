import { IconArrowRight, IconCheck, IconSend, IconX } from '@tabler/icons-react';

import type { OpenWait } from '../../api/types';
import classes from './inbox.module.css';

type Port = OpenWait['follows']['ports'][number];

const WORDS: { [port: string]: { label: string; icon: typeof IconCheck } } = {
  approved: { label: 'On approve', icon: IconCheck },
  rejected: { label: 'On reject', icon: IconX },
  out: { label: 'After it is sent', icon: IconSend },
};

/** What runs next on each answer, by the graph of the run's own version. */
export function Follows({ follows }: { follows: OpenWait['follows'] }) {
  if (follows.ports.length === 0) return null;
  return (
    <dl className={classes.follows} aria-label="What runs next">
      {follows.ports.map((port) => (
        <NextOf key={port.port} port={port} inside={follows.inside} />
      ))}
    </dl>
  );
}

function NextOf({ port, inside }: { port: Port; inside: string | null }) {
  const { label, icon: Icon } = WORDS[port.port] ?? { label: port.port, icon: IconArrowRight };
  return (
    <div data-port={port.port}>
      <dt>
        <Icon size={14} aria-hidden="true" /> {label}
      </dt>
      <dd>{wordsOf(port, inside)}</dd>
    </div>
  );
}

export function wordsOf({ steps, more }: Port, inside: string | null): string {
  if (steps.length === 0) return inside ? `Nothing more: this item of '${inside}' ends.` : 'Nothing more on this way.';
  const names = steps.map((step) => step.name).join(', ');
  return more > 0 ? `${names} and ${more} more` : names;
}
