import { Button } from '@mantine/core';
import { IconAlertTriangle, IconLock, IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';

import { ApiError, sentenceOf } from '../../api/errors';
import classes from './states.module.css';

interface StateProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  tone?: 'error' | 'calm';
  compact?: boolean;
}

/** Something else than the content: empty, refused, failed. One sentence, one action. */
export function StateView({ icon, title, children, action, tone = 'calm', compact = false }: StateProps) {
  return (
    <div className={classes.state} data-compact={compact || undefined} role={tone === 'error' ? 'alert' : undefined}>
      <div className={classes.icon} data-tone={tone} aria-hidden="true">
        {icon}
      </div>
      <h2 className={classes.title}>{title}</h2>
      {children ? <p className={classes.text}>{children}</p> : null}
      {action ? <div className={classes.action}>{action}</div> : null}
    </div>
  );
}

export function EmptyState(props: Omit<StateProps, 'tone'>) {
  return <StateView {...props} />;
}

export function NoPermissionState({ what }: { what: string }) {
  return (
    <StateView icon={<IconLock size={22} />} title={`You may not see ${what}`}>
      Your role in this workspace does not allow it. The workspace's owner or an admin can change your role.
    </StateView>
  );
}

interface ErrorProps {
  error: unknown;
  what: string;
  onRetry?: (() => void) | undefined;
  compact?: boolean;
}

/** Tells why `what` could not be shown. A refusal by role and a missing thing have their own words. */
export function ErrorState({ error, what, onRetry, compact = false }: ErrorProps) {
  const refused = error instanceof ApiError ? error : null;
  if (refused?.status === 403) return <NoPermissionState what={what} />;
  const offline = refused?.isOffline ?? false;
  const missing = refused?.status === 404;
  const title = missing
    ? `There is no such page for ${what}`
    : offline
      ? 'Pawl does not answer'
      : `Could not show ${what}`;
  return (
    <StateView
      tone="error"
      compact={compact}
      icon={offline ? <IconPlugConnectedX size={22} /> : <IconAlertTriangle size={22} />}
      title={title}
      action={
        onRetry && !missing ? (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        ) : undefined
      }
    >
      {sentenceOf(error)}
    </StateView>
  );
}

const WIDTHS = ['62%', '84%', '48%', '73%', '55%', '80%', '66%', '44%'];

/** Grey lines in the place of rows that are on their way. */
export function LoadingRows({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div className={classes.bones} role="status" aria-label={label}>
      {WIDTHS.slice(0, rows).map((width) => (
        <div key={width} className={classes.bone} style={{ width }} />
      ))}
    </div>
  );
}
