import { memo } from 'react';
import { Link, useNavigate } from 'react-router';

import type { Run } from '../../api/types';
import { Table } from '../../components/ui/page';
import { RunStatusBadge } from '../../components/ui/run-status';
import { Elapsed, TimeAgo } from '../../components/ui/time';
import { formatDuration } from '../../lib/format';
import { paths } from '../../lib/paths';
import classes from './runs.module.css';

interface RunsTableProps {
  ws: string;
  runs: readonly Run[];
  usual: ReadonlyMap<string, number>;
  isChosen: (id: string) => boolean;
  onToggle: (id: string, isRange: boolean) => void;
  areAllChosen: boolean;
  onToggleAll: () => void;
}

const HEAD = ['Status', 'Run', 'Workflow', 'Where', 'Started by', 'Started', 'Duration'];

export function RunsTable({ ws, runs, usual, isChosen, onToggle, areAllChosen, onToggleAll }: RunsTableProps) {
  const areSomeChosen = !areAllChosen && runs.some((run) => isChosen(run.id));
  const all = (
    <input
      key="all"
      type="checkbox"
      className={classes.check}
      aria-label="Select all that are listed"
      checked={areAllChosen}
      ref={(box) => {
        if (box) box.indeterminate = areSomeChosen;
      }}
      onChange={onToggleAll}
    />
  );
  return (
    <Table label="Runs" head={[all, ...HEAD]}>
      {runs.map((run) => (
        <Row
          key={run.id}
          ws={ws}
          run={run}
          usual={usual.get(run.workflow.id) ?? null}
          isChosen={isChosen(run.id)}
          onToggle={onToggle}
        />
      ))}
    </Table>
  );
}

interface RowProps extends Pick<RunsTableProps, 'ws' | 'onToggle'> {
  run: Run;
  usual: number | null;
  isChosen: boolean;
}

const Row = memo(function Row({ ws, run, usual, isChosen, onToggle }: RowProps) {
  const navigate = useNavigate();
  const to = paths.run(ws, run.id);
  const isWaiting = run.waits_for !== null && run.counts.running === 0;
  return (
    // The link in the row is what keyboard and screen reader use; the click on the row is a larger target for the mouse.
    <tr
      className={classes.row}
      onClick={(event) => {
        if (!(event.target as Element).closest('[data-select]')) void navigate(to);
      }}
      data-status={run.status}
      data-chosen={isChosen || undefined}
    >
      <td className={classes.select} data-select>
        <input
          type="checkbox"
          className={classes.check}
          aria-label={`Select run ${run.number}`}
          checked={isChosen}
          onChange={(event) => onToggle(run.id, (event.nativeEvent as MouseEvent).shiftKey)}
        />
      </td>
      <td>
        <RunStatusBadge status={run.status} isWaiting={isWaiting} />
      </td>
      <td>
        <Link to={to} data-run={run.id} className={classes.number} onClick={(event) => event.stopPropagation()}>
          {run.number}
        </Link>
      </td>
      <td>
        {run.workflow.name} <span className={classes.version}>v{run.version}</span>
        {run.labels.length > 0 ? <Labels labels={run.labels} /> : null}
      </td>
      <td>
        <Where run={run} />
      </td>
      <td className={classes.soft}>{run.started_by || 'the system'}</td>
      <td className={classes.soft}>
        <TimeAgo at={run.started_at} />
      </td>
      <td>
        <Duration run={run} usual={usual} />
      </td>
    </tr>
  );
});

const LABELS_SHOWN = 3;

function Labels({ labels }: { labels: readonly string[] }) {
  const shown = labels.slice(0, LABELS_SHOWN);
  return (
    <span className={classes.labels} title={labels.join(', ')}>
      {shown.map((label) => (
        <span key={label} className={classes.label}>
          {label}
        </span>
      ))}
      {labels.length > LABELS_SHOWN ? <span className={classes.version}>+{labels.length - LABELS_SHOWN}</span> : null}
    </span>
  );
}

/** Where it is, or where it failed: '8 of 12 · Compliance check'. */
function Where({ run }: { run: Run }) {
  const { total, succeeded } = run.counts;
  // A finished run may have left steps out; it is done all the same.
  const done = run.status === 'succeeded' ? total : succeeded;
  const at = run.status === 'failed' ? run.failed_step : run.waits_for;
  const error = run.status === 'failed' ? run.failed_step?.error?.message : undefined;
  return (
    <span className={classes.where}>
      <span className={classes.meter} aria-hidden="true">
        <span style={{ width: `${total > 0 ? Math.min(100, (done / total) * 100) : 0}%` }} />
      </span>
      <span className="num" title="Steps, those of every item included">
        {done} of {total}
      </span>
      {at ? (
        <span className={run.status === 'failed' ? classes.failedAt : classes.waitsFor} title={error}>
          {at.path}
        </span>
      ) : null}
    </span>
  );
}

/** How long it took, with a bar against what is usual for its workflow. */
function Duration({ run, usual }: { run: Run; usual: number | null }) {
  const end = run.finished_at ? Date.parse(run.finished_at) : Date.now();
  const share = usual ? Math.min(1, (end - Date.parse(run.started_at)) / (2 * usual)) : 0;
  return (
    <span className={classes.duration} title={usual ? `usually ${formatDuration(usual)}` : undefined}>
      <Elapsed from={run.started_at} to={run.finished_at} />
      {usual && run.finished_at ? (
        <span className={classes.usual} aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} data-long={share > 0.75 || undefined} />
        </span>
      ) : null}
    </span>
  );
}
