import { formatDuration } from '../../lib/format';
import type { Column, Overview } from './api';
import classes from './chart.module.css';
import { formatSpan, labelOf, niceSpan, type Point, piecesOf } from './numbers';
import { Scale, TimeLabels } from './run-chart';

const HEIGHT = 140;
const WIDTH = 1000;
const LINES = ['p95_s', 'p50_s'] as const;
const LINE_WORDS = { p50_s: 'median', p95_s: 'p95' };
const say = (seconds: number | null) => formatDuration(seconds === null ? null : seconds * 1000);

/** How long runs took that succeeded: the median and the 95th percentile of each piece of the period. */
export function DurationChart({ shown }: { shown: Overview }) {
  const values = shown.columns.flatMap((column) => LINES.map((line) => column[line] ?? 0));
  const top = niceSpan(values);
  return (
    <figure className={classes.figure} aria-label="How long runs took that succeeded">
      <div className={classes.plot}>
        <Scale top={formatSpan(top)} middle={formatSpan(top / 2)} />
        <div className={classes.lines}>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {LINES.map((line) => (
              <Line key={line} line={line} columns={shown.columns} top={top} />
            ))}
          </svg>
          <ul className={classes.points} aria-label="Durations by column">
            {shown.columns.map((column) => (
              <li key={column.at} title={wordsOf(column, shown.step_s)}>
                {LINES.map((line) =>
                  column[line] === null ? null : (
                    <span key={line} data-line={line} style={{ bottom: `${((column[line] ?? 0) / top) * 100}%` }} />
                  ),
                )}
                <span className="visually-hidden">{wordsOf(column, shown.step_s)}</span>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <TimeLabels shown={shown} />
      <figcaption className={classes.legend}>
        {LINES.map((line) => (
          <span key={line} data-line={line}>
            {LINE_WORDS[line]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const wordsOf = (column: Column, step_s: number): string =>
  column.p50_s === null
    ? `${labelOf(column.at, step_s)}: no run succeeded`
    : `${labelOf(column.at, step_s)}: median ${say(column.p50_s)}, p95 ${say(column.p95_s)}`;

function Line({ line, columns, top }: { line: (typeof LINES)[number]; columns: readonly Column[]; top: number }) {
  const points = columns.map((column, at): Point | null => {
    const value = column[line];
    return value === null ? null : { x: ((at + 0.5) / columns.length) * WIDTH, y: HEIGHT - (value / top) * HEIGHT };
  });
  return (
    <>
      {piecesOf(points).map((piece) => (
        <path key={piece} d={piece} data-line={line} vectorEffect="non-scaling-stroke" />
      ))}
    </>
  );
}
