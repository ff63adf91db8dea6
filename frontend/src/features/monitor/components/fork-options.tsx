import { Checkbox, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { keys } from '../../../api/query-keys';
import type { Operation } from '../../../api/recovery';
import { readWorkflow } from '../../../api/workspace-calls';
import { usePlan } from '../plan';
import { useMonitor, useRunState } from '../store';
import classes from './run-view.module.css';

type Fork = Extract<Operation, { kind: 'fork' }>;

/** On which version the new run goes on, and whether the outside can tell what it repeats. Each choice is another plan. */
export function ForkOptions({ operation }: { operation: Fork }) {
  const { ref } = useMonitor();
  const { open } = usePlan();
  const version = useRunState((state) => state.run.version);
  const workflow = useRunState((state) => state.run.workflow.id);
  const newest = useQuery({
    queryKey: keys.workflow(ref.ws, workflow),
    queryFn: ({ signal }) => readWorkflow(ref.ws, workflow, { signal }),
    staleTime: 10_000,
  });
  const live = newest.data?.live_version ?? version;
  return (
    <div className={classes.forkOptions}>
      {live === version ? null : (
        <SegmentedControl
          size="xs"
          aria-label="On which version the new run goes on"
          value={operation.version === null ? 'own' : 'newest'}
          onChange={(value) => open({ ...operation, version: value === 'own' ? null : live })}
          data={[
            { value: 'own', label: `Version ${version}, as here` },
            { value: 'newest', label: `Version ${live}, the newest` },
          ]}
        />
      )}
      <Checkbox
        size="xs"
        label="With this run's idempotency keys"
        title="The outside sees the same keys as of this run, and can tell a repeat."
        checked={operation.same_effects}
        onChange={(event) => open({ ...operation, same_effects: event.currentTarget.checked })}
      />
    </div>
  );
}
