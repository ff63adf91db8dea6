const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (value: number): string => String(value).padStart(2, '0');

/** 12 ms, 1.2 s, 48 s, 3 m 04 s, 2 h 05 m, 3 d 04 h. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** just now, 42 s ago, 4 m ago, 2 h ago, yesterday, 5 d ago; then the date. Future times say 'in'. */
export function formatRelative(at: string | null | undefined, now: number): string {
  if (!at) return '–';
  const then = Date.parse(at);
  if (Number.isNaN(then)) return '–';
  const age = now - then;
  const size = Math.abs(age);
  if (size < 5000) return 'just now';
  const say = (text: string) => (age > 0 ? `${text} ago` : `in ${text}`);
  if (size < MINUTE) return say(`${Math.floor(size / 1000)} s`);
  if (size < HOUR) return say(`${Math.floor(size / MINUTE)} m`);
  if (size < DAY) return say(`${Math.floor(size / HOUR)} h`);
  if (size < 7 * DAY) return say(`${Math.floor(size / DAY)} d`);
  return new Date(then).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** The exact time in the viewer's zone, for hover. */
export function formatExact(at: string | null | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const day = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
  return `${day}, ${formatClock(at)}`;
}

/** 12:04:31 */
export function formatClock(at: string | null | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? ''
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** '37 runs' where all were counted; 'more than 1,000 runs' or 'at least 37 runs' where counting stopped. */
export function formatCounted({ count, is_exact }: { count: number; is_exact: boolean }, one: string): string {
  if (is_exact) return formatCount(count, one);
  return `${count >= 1000 ? 'more than' : 'at least'} ${formatCount(count, one)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} kB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** 'a, b and c'; at most `most` names, the rest counted. */
export function formatNames(names: readonly string[], most = 3): string {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} more`] : [...names];
  const last = shown.pop() ?? '';
  return shown.length > 0 ? `${shown.join(', ')} and ${last}` : last;
}

interface Tick {
  /** The moment as the zone's clock shows it, with its offset. */
  local: string;
  clock: 'forward' | 'back' | null;
}

/** A schedule's time as its zone's clock shows it, and what the clock does there. */
export function formatTick({ local, clock }: Tick): string {
  const time = local.slice(0, 16).replace('T', ' ');
  if (clock === 'forward') return `${time}, moved: the clock is put forward`;
  return clock === 'back' ? `${time}, as the clock is put back` : time;
}

/** The beginning of a text: at most so many UTF-16 units, and never half of a character. */
export function beginningOf(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  const isHalf = text.length > most && last >= 0xd800 && last < 0xdc00;
  return text.slice(0, isHalf ? most - 1 : most);
}
