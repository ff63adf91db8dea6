import { Button } from '@mantine/core';

import { TimeAgo } from '../../components/ui/time';
import type { Draft, VersionRow } from './api';
import type { Side } from './selection';
import classes from './versions.module.css';

interface Props {
  draft: Draft | undefined;
  versions: readonly VersionRow[];
  live: number | null;
  shown: Side;
  onShow: (side: Side) => void;
  onMore: (() => void) | null;
}

/** The draft, then every version: who published it, when, what they wrote, and which one is live. */
export function VersionList({ draft, versions, live, shown, onShow, onMore }: Props) {
  return (
    <nav className={classes.list} aria-label="Versions">
      <Row isShown={shown === 'draft'} title="Draft" tag="not published" onClick={() => onShow('draft')}>
        {draft ? (
          <>
            {draft.updated_by ?? 'Somebody'} saved it <TimeAgo at={draft.updated_at} />
          </>
        ) : null}
      </Row>
      {versions.map((version) => (
        <Row
          key={version.number}
          isShown={shown === version.number}
          title={`Version ${version.number}`}
          tag={version.number === live ? 'live' : null}
          note={version.note}
          onClick={() => onShow(version.number)}
        >
          {version.published_by ?? 'Somebody who left'} · <TimeAgo at={version.published_at} />
        </Row>
      ))}
      {onMore ? (
        <Button variant="subtle" size="xs" onClick={onMore}>
          Show older versions
        </Button>
      ) : null}
    </nav>
  );
}

interface RowProps {
  isShown: boolean;
  title: string;
  tag: 'live' | 'not published' | null;
  note?: string;
  onClick: () => void;
  children: React.ReactNode;
}

function Row({ isShown, title, tag, note, onClick, children }: RowProps) {
  return (
    <button type="button" className={classes.version} aria-current={isShown || undefined} onClick={onClick}>
      <span className={classes.versionHead}>
        <strong>{title}</strong>
        {tag ? (
          <span className={classes.tag} data-tag={tag}>
            {tag}
          </span>
        ) : null}
      </span>
      {note ? <span className={classes.note}>{note}</span> : null}
      <span className={classes.who}>{children}</span>
    </button>
  );
}
