import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import type { Column, Overview } from './api';
import classes from './chart.module.css';
import { endOf, labelOf, niceTop, OUTCOME_WORDS, OUTCOMES, runsBehind, sentenceOf, totalOf } from './numbers';

interface ChartProps {
  shown: Overview;
  workflow: string | undefined;
}

/** How many runs were started in each piece of the period, by how they stand. Each column leads to its runs. */
export function RunChart({ shown, workflow }: ChartProps) {
  const top = niceTop(shown.columns.map(totalOf));
  return (
    <figure className={classes.figure} aria-label="Runs by when they were started">
      <div className={classes.plot}>
        <Scale top={top.toLocaleString('en')} middle={top > 1 ? (top / 2).toLocaleString('en') : ''} />
        <div className={classes.columns}>
          {shown.columns.map((column) => (
            <Bar key={column.at} column={column} top={top} step_s={shown.step_s} workflow={workflow} />
          ))}
        </div>
      </div>
      <TimeLabels shown={shown} />
      <figcaption className={classes.legend}>
        {OUTCOMES.map((outcome) => (
          <span key={outcome} data-outcome={outcome}>
            {OUTCOME_WORDS[outcome]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface BarProps {
  column: Column;
  top: number;
  step_s: number;
  workflow: string | undefined;
}

function Bar({ column, top, step_s, workflow }: BarProps) {
  const ws = useWorkspace();
  const words = sentenceOf(column, step_s);
  if (totalOf(column) === 0) return <span className={classes.column} title={words} />;
  const to = runsBehind(ws, { since: column.at, until: endOf(column.at, step_s), workflow });
  return (
    <Link className={classes.column} to={to} title={words} aria-label={words}>
      {OUTCOMES.map((outcome) => (
        <span
          key={outcome}
          data-outcome={outcome}
          data-small={column[outcome] > 0 || undefined}
          style={{ height: `${(column[outcome] / top) * 100}%` }}
        />
      ))}
    </Link>
  );
}

export function Scale({ top, middle }: { top: string; middle: string }) {
  return (
    <div className={classes.scale} aria-hidden="true">
      <span>{top}</span>
      <span>{middle}</span>
      <span>0</span>
    </div>
  );
}

/** The first, the middle and the last of the columns. */
export function TimeLabels({ shown }: { shown: Overview }) {
  const { columns, step_s } = shown;
  const places = [0, Math.floor(columns.length / 2), columns.length - 1];
  return (
    <div className={classes.times} aria-hidden="true">
      {places.map((place) => (
        <span key={place}>{columns[place] ? labelOf(columns[place].at, step_s) : ''}</span>
      ))}
    </div>
  );
}
