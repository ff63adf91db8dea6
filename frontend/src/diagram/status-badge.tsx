import { memo } from 'react';

import { STATUS_LOOKS } from './status';
import classes from './status-badge.module.css';
import type { StepStatus } from './types';

const STROKE = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 2,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;

/** One shape a status, so that no one needs its colour to tell them apart. */
const SHAPES: Readonly<Record<StepStatus, React.ReactNode>> = {
  pending: <circle cx="8" cy="8" r="5" {...STROKE} />,
  ready: <circle cx="8" cy="8" r="5.5" fill="currentColor" />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.5" {...STROKE} opacity="0.25" />
      <path d="M8 2.5 A5.5 5.5 0 0 1 13.5 8" {...STROKE} className={classes.arc} />
    </>
  ),
  was_running: <circle cx="8" cy="8" r="5.5" {...STROKE} strokeDasharray="2.4 3.4" />,
  waiting: <path d="M5.5 3.5v9M10.5 3.5v9" {...STROKE} strokeWidth={2.6} />,
  retry_wait: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.2v2.9h-2.9" {...STROKE} />,
  needs_decision: <path d="M5.4 5.6a2.7 2.7 0 1 1 3.9 2.5c-.8.4-1.3.9-1.3 1.8M8 12.9v.1" {...STROKE} />,
  failed: <path d="M4 4l8 8M12 4l-8 8" {...STROKE} strokeWidth={2.4} />,
  blocked: (
    <>
      <circle cx="8" cy="8" r="5.5" {...STROKE} />
      <path d="M4.3 11.7l7.4-7.4" {...STROKE} />
    </>
  ),
  skipped: <path d="M2.5 8h8M7.5 5l3 3-3 3M13.5 4v8" {...STROKE} />,
  not_reached: <circle cx="8" cy="8" r="5" {...STROKE} />,
  reused: <path d="M2.5 11c2-6 7-7 10.5-4M13.2 3.2V7H9.4" {...STROKE} />,
  succeeded: <path d="M3 8.5l3.4 3.4L13 4.8" {...STROKE} strokeWidth={2.4} />,
  cancelled: <rect x="3.5" y="3.5" width="9" height="9" rx="1.5" fill="currentColor" />,
};

interface ShapeProps {
  status: StepStatus;
  size?: number;
}

export const StatusShape = memo(function StatusShape({ status, size = 14 }: ShapeProps) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      style={{ color: `var(--status-${STATUS_LOOKS[status].token})` }}
    >
      {SHAPES[status]}
    </svg>
  );
});

interface BadgeProps extends ShapeProps {
  /** A few characters after the word: 'attempt 2 of 3'. */
  detail?: string | undefined;
  /** One sentence for hover. */
  sentence?: string | undefined;
}

export const StatusBadge = memo(function StatusBadge({ status, size = 14, detail, sentence }: BadgeProps) {
  const look = STATUS_LOOKS[status];
  return (
    <span
      className={classes.badge}
      data-status={status}
      title={sentence ?? look.meaning}
      style={{ color: `var(--status-${look.token})`, background: `var(--status-${look.token}-soft)` }}
    >
      <StatusShape status={status} size={size} />
      <span>{look.word}</span>
      {detail ? <span className={classes.detail}>{detail}</span> : null}
    </span>
  );
});
