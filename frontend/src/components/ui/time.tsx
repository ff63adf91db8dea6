import { useNow } from '../../hooks/use-now';
import { formatDuration, formatExact, formatRelative } from '../../lib/format';

/** A moment, told relative to now; the exact one on hover. */
export function TimeAgo({ at, prefix = '' }: { at: string | null | undefined; prefix?: string }) {
  const recent = at ? Date.now() - Date.parse(at) < 90_000 : false;
  const now = useNow(recent ? 1000 : 20_000, Boolean(at));
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={formatExact(at)} className="num">
      {prefix}
      {formatRelative(at, now)}
    </time>
  );
}

/** How long something took, or takes: it counts on while `to` is missing. */
export function Elapsed({ from, to }: { from: string | null | undefined; to?: string | null | undefined }) {
  const now = useNow(1000, Boolean(from) && !to);
  if (!from) return <span>–</span>;
  const end = to ? Date.parse(to) : now;
  return <span className="num">{formatDuration(Math.max(0, end - Date.parse(from)))}</span>;
}
