import { Fragment, type ReactNode } from 'react';

import classes from './markdown.module.css';

/**
 * A careful part of Markdown: headings, paragraphs, lists (also with boxes to tick), quotes, code, rules; bold, italic, struck,
 * code and links. It makes elements and never HTML out of text, so nothing that somebody writes can act on the page.
 */
export function Markdown({ text }: { text: string }) {
  return <div className={classes.text}>{blocks(text.replace(/\r\n?/g, '\n').split('\n'))}</div>;
}

const HEADING = /^(#{1,4})\s+(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*\d{1,9}[.)]\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const FENCE = /^\s*```/;
const BEGINS = [HEADING, BULLET, NUMBER, QUOTE, RULE, FENCE];

/** Takes lines from `at` on while they match; what they hold behind their sign. */
function run(lines: readonly string[], at: number, sign: RegExp): string[] {
  const taken: string[] = [];
  for (let line = lines[at]; line !== undefined; line = lines[at + taken.length]) {
    const found = sign.exec(line);
    if (!found || (sign === BULLET && RULE.test(line))) break;
    taken.push(found[1] ?? '');
  }
  return taken;
}

function blocks(lines: readonly string[]): ReactNode[] {
  const made: ReactNode[] = [];
  for (let at = 0; at < lines.length; ) {
    const { shown, taken } = block(lines, at);
    if (shown !== null) made.push(<Fragment key={at}>{shown}</Fragment>);
    at += taken;
  }
  return made;
}

interface Block {
  shown: ReactNode;
  /** How many lines it is made of. */
  taken: number;
}

function block(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { shown: null, taken: 1 };
  if (FENCE.test(line)) return fenced(lines, at);
  const heading = HEADING.exec(line);
  if (heading) {
    const look = classes[`h${heading[1]?.length}`];
    return { shown: <p className={look}>{inline(heading[2] ?? '')}</p>, taken: 1 };
  }
  if (RULE.test(line)) return { shown: <hr />, taken: 1 };
  const bullets = run(lines, at, BULLET);
  if (bullets.length > 0) return { shown: <ul>{bullets.map(item)}</ul>, taken: bullets.length };
  const numbers = run(lines, at, NUMBER);
  if (numbers.length > 0) return { shown: <ol>{numbers.map(item)}</ol>, taken: numbers.length };
  const quoted = run(lines, at, QUOTE);
  if (quoted.length > 0) {
    return { shown: <blockquote>{blocks(quoted)}</blockquote>, taken: quoted.length };
  }
  return paragraph(lines, at);
}

function fenced(lines: readonly string[], at: number): Block {
  const end = lines.findIndex((line, place) => place > at && FENCE.test(line));
  const last = end === -1 ? lines.length : end;
  const code = lines.slice(at + 1, last).join('\n');
  const shown = (
    <pre>
      <code>{code}</code>
    </pre>
  );
  return { shown, taken: last + 1 - at };
}

function paragraph(lines: readonly string[], at: number): Block {
  let end = at + 1;
  for (let line = lines[end]; line !== undefined && line.trim() !== ''; line = lines[end]) {
    if (BEGINS.some((sign) => sign.test(line ?? ''))) break;
    end += 1;
  }
  const words = lines.slice(at, end).map((line, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have no other name
    <Fragment key={place}>
      {place > 0 ? <br /> : null}
      {inline(line)}
    </Fragment>
  ));
  return { shown: <p>{words}</p>, taken: end - at };
}

function item(text: string, at: number): ReactNode {
  const box = /^\[([ xX])\]\s+(.*)$/.exec(text);
  const isDone = box?.[1]?.toLowerCase() === 'x';
  return (
    <li key={at} className={box ? classes.task : undefined}>
      {box ? (
        <span role="img" aria-label={isDone ? 'done' : 'to do'}>
          {isDone ? '☑' : '☐'}
        </span>
      ) : null}
      {inline(box ? ` ${box[2] ?? ''}` : text)}
    </li>
  );
}

const INLINE =
  /`([^`]+)`|\*\*(?!\s)(.+?)\*\*|__(?!\s)(.+?)__|~~(?!\s)(.+?)~~|\*(?!\s)([^*]+?)\*|\b_(?!\s)([^_]+?)_\b|\[([^\]]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>()]+[^\s<>().,;:!?])/g;

/** Only addresses that open a page or a letter; 'javascript:' and its like stay words. */
const isSafe = (address: string): boolean => /^(https?:\/\/|mailto:|\/(?!\/))/i.test(address);

function inline(text: string): ReactNode[] {
  const made: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) made.push(text.slice(from, found.index));
    made.push(<Fragment key={found.index}>{mark(found)}</Fragment>);
    from = found.index + found[0].length;
  }
  if (from < text.length) made.push(text.slice(from));
  return made;
}

function mark(found: RegExpExecArray): ReactNode {
  const [whole, code, bold, strong, struck, italic, slanted, label, address, bare] = found;
  if (code !== undefined) return <code>{code}</code>;
  const heavy = bold ?? strong;
  if (heavy !== undefined) return <strong>{inline(heavy)}</strong>;
  if (struck !== undefined) return <s>{inline(struck)}</s>;
  const light = italic ?? slanted;
  if (light !== undefined) return <em>{inline(light)}</em>;
  const to = address ?? bare ?? '';
  if (!isSafe(to)) return whole;
  return (
    <a href={to} target="_blank" rel="noreferrer noopener" className="nodrag">
      {label ?? to}
    </a>
  );
}
