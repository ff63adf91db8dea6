const UNITS: readonly [string, number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];
const PART = /(\d+(?:[.,]\d+)?)\s*(ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)?/gy;
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, d: 86_400, h: 3600, m: 60, s: 1 };

/** '1 h 30 m', '90', '2.5 s', '500 ms' in seconds; null where it is none of these. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '') return null;
  let seconds = 0;
  let at = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(trimmed); part; part = PART.exec(trimmed)) {
    const unit = part[2] === 'ms' ? 'ms' : (part[2]?.charAt(0) ?? 's');
    seconds += Number((part[1] ?? '').replace(',', '.')) * (SECONDS[unit] ?? 1);
    at = PART.lastIndex;
    while (trimmed[at] === ' ') at += 1;
    PART.lastIndex = at;
  }
  return at === trimmed.length ? Math.round(seconds * 1000) / 1000 : null;
}

/** Seconds as a person writes them: '1 h 30 m', '2.5 s'. */
export function writeDuration(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  let left = seconds;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = unit === 's' ? Math.round(left * 1000) / 1000 : Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    left -= count * size;
  }
  return parts.join(' ') || '0 s';
}
