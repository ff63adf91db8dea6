import type { Bulk } from '../../api/bulk';
import classes from './bulk.module.css';
import { PART_WORDS, type Part, sharesOf } from './progress';

interface Props {
  counts: Bulk['counts'];
  /** The part whose runs are shown; the numbers are buttons where it is given. */
  shown?: Part | '';
  onShow?: (part: Part | '') => void;
}

export function ProgressBar({ counts }: Pick<Props, 'counts'>) {
  const shares = sharesOf(counts);
  const behind = counts.total - counts.pending;
  return (
    <div
      className={classes.bar}
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={counts.total}
      aria-valuenow={behind}
    >
      {shares.map(({ part, share }) => (
        <span key={part} data-part={part} style={{ width: `${share}%` }} />
      ))}
    </div>
  );
}

/** The parts by number; each shows its runs. */
export function PartFilter({ counts, shown = '', onShow }: Props) {
  return (
    <fieldset className={classes.parts} aria-label="Results">
      {sharesOf(counts).map(({ part, count }) => (
        <button
          key={part}
          type="button"
          className={classes.part}
          data-part={part}
          aria-pressed={shown === part}
          onClick={() => onShow?.(shown === part ? '' : part)}
        >
          <strong className="num">{count.toLocaleString('en')}</strong> {PART_WORDS[part]}
        </button>
      ))}
    </fieldset>
  );
}
