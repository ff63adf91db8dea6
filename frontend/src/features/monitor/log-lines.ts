import type { LogChunk } from '../../api/types';

export const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type Level = (typeof LEVELS)[number];

export interface LogLine {
  /** Counts from 1, of the whole log. */
  number: number;
  text: string;
  level: Level;
  /** When the piece that it stands in was written; null where that is not known. */
  at: string | null;
}

const NAMED = /\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
const LEVEL_OF: { [name: string]: Level } = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  NOTICE: 'info',
  WARN: 'warning',
  WARNING: 'warning',
  ERROR: 'error',
  CRITICAL: 'error',
  FATAL: 'error',
};
const THROWN = /^(Traceback \(|[\w.]*(Error|Exception)\b\s*:)/;
const HEAD = 80;

/** By the word that logging libraries write near the beginning; what is indented belongs to the line above it. */
export function levelOf(text: string, above: Level): Level {
  if (THROWN.test(text)) return 'error';
  const name = NAMED.exec(text.slice(0, HEAD))?.[1];
  if (name) return LEVEL_OF[name] ?? 'info';
  return /^\s/.test(text) ? above : 'info';
}

const encoder = new TextEncoder();

/** The lines of a log. `times` say in bytes of UTF-8 where each piece begins, in order. */
export function linesOf(text: string, times: LogChunk['times']): LogLine[] {
  const raw = text.split('\n');
  if (raw.at(-1) === '') raw.pop();
  const lines: LogLine[] = [];
  let offset = 0;
  let piece = -1;
  let above: Level = 'info';
  for (const [at, line] of raw.entries()) {
    while ((times[piece + 1]?.offset ?? Number.POSITIVE_INFINITY) <= offset) piece += 1;
    above = levelOf(line, above);
    lines.push({ number: at + 1, text: line, level: above, at: times[piece]?.at ?? null });
    offset += encoder.encode(line).length + 1;
  }
  return lines;
}

export interface Wanted {
  text: string;
  /** The least level that is shown; null: all. */
  level: Level | null;
}

export function filterLines(lines: readonly LogLine[], { text, level }: Wanted): LogLine[] {
  const least = level === null ? 0 : LEVELS.indexOf(level);
  const wanted = text.toLowerCase();
  return lines.filter(
    (line) => LEVELS.indexOf(line.level) >= least && (wanted === '' || line.text.toLowerCase().includes(wanted)),
  );
}

/** A line cut where it contains the wanted text: every second part is it. */
export function partsOf(line: string, wanted: string): string[] {
  if (wanted === '') return [line];
  const parts: string[] = [];
  const low = line.toLowerCase();
  const text = wanted.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(text); at >= 0; at = low.indexOf(text, from)) {
    parts.push(line.slice(from, at), line.slice(at, at + text.length));
    from = at + text.length;
  }
  parts.push(line.slice(from));
  return parts;
}
