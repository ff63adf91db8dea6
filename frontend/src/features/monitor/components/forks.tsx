import { Button, Menu } from '@mantine/core';
import { IconArrowFork, IconChevronDown } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';

import { usePollingInterval } from '../../../api/live';
import { keys } from '../../../api/query-keys';
import { listRuns } from '../../../api/runs';
import { useWorkspace } from '../../../api/workspace';
import { RunStatusBadge } from '../../../components/ui/run-status';
import { formatCount } from '../../../lib/format';
import { paths } from '../../../lib/paths';
import { useMonitor, useRunState } from '../store';
import { nameOf } from '../summary';
import classes from './run-view.module.css';

/** The run, and the step of it, from which this one goes on. */
export function ForkOrigin() {
  const ws = useWorkspace();
  const graph = useRunState((state) => state.graph);
  const { forked_from: source, forked_at: at } = useRunState((state) => state.run);
  if (!source) return null;
  return (
    <>
      {' · fork of '}
      <Link to={paths.run(ws, source.id, at ?? undefined)}>run {source.number}</Link>
      {at ? ` from '${nameOf(graph, at)}'` : ''}
    </>
  );
}

const MOST = 20;

/** The runs that were forked from this one, newest first. A fork that somebody makes now is heard of as an act. */
export function Forks() {
  const { ref } = useMonitor();
  const acts = useRunState((state) => state.acts.fork ?? 0);
  const polling = usePollingInterval();
  const filter = { forked_from: ref.run, limit: MOST };
  const forks = useQuery({
    queryKey: [...keys.runs(ref.ws, filter), acts],
    queryFn: ({ signal }) => listRuns(ref.ws, filter, { signal }),
    placeholderData: (previous) => previous,
    refetchInterval: polling,
  });
  const items = forks.data?.items ?? [];
  if (items.length === 0) return null;
  const more = forks.data?.next ? '+' : '';
  return (
    <Menu position="bottom-start" width={260} withInitialFocusPlaceholder={false} onOpen={() => void forks.refetch()}>
      <Menu.Target>
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconArrowFork size={13} />}
          rightSection={<IconChevronDown size={13} />}
        >
          {`${formatCount(items.length, 'fork')}${more}`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Runs that were forked from this one">
        {items.map((run) => (
          <Menu.Item
            key={run.id}
            component={Link}
            to={paths.run(ref.ws, run.id)}
            rightSection={<RunStatusBadge status={run.status} />}
          >
            <span className={classes.forkName}>
              Run {run.number} · v{run.version}
            </span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
