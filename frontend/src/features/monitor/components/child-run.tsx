import { Link } from 'react-router';

import type { Step } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { RunStatusBadge } from '../../../components/ui/run-status';
import { paths } from '../../../lib/paths';
import { useRunState } from '../store';
import classes from './step-panel.module.css';

/** The run of another workflow that a step has started. */
export function ChildRun({ child }: { child: NonNullable<Step['child']> }) {
  const ws = useWorkspace();
  return (
    <div className={classes.why}>
      <RunStatusBadge status={child.status} isWaiting={false} />
      <Link to={paths.run(ws, child.id)}>
        Run {child.number} of {child.workflow.name}
      </Link>
    </div>
  );
}

/** The step that has started this run, where it was one. */
export function StartedByStep() {
  const ws = useWorkspace();
  const parent = useRunState((state) => state.run.parent);
  if (!parent) return null;
  return (
    <>
      {' · inside '}
      <Link to={paths.run(ws, parent.run, parent.path)}>
        run {parent.number} of {parent.workflow.name}
      </Link>
    </>
  );
}
