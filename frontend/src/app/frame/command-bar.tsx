import '@mantine/spotlight/styles.css';

import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconArrowRight, IconHierarchy2, IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { keys } from '../../api/query-keys';
import { listRuns } from '../../api/runs';
import { useWorkspace } from '../../api/workspace';
import { listWorkflows } from '../../api/workspace-calls';
import { paths } from '../../lib/paths';
import { PAGES } from './pages';

interface Found {
  id: string;
  label: string;
  description?: string | undefined;
  to: string;
  group: 'Pages' | 'Workflows' | 'Runs';
}

function useFound(ws: string, query: string): Found[] {
  const [asked] = useDebouncedValue(query.trim(), 150);
  const workflows = useQuery({
    queryKey: keys.workflows(ws),
    queryFn: ({ signal }) => listWorkflows(ws, { signal }),
    staleTime: 30_000,
  });
  const filter = { q: asked, limit: 8 };
  const runs = useQuery({
    queryKey: keys.runs(ws, filter),
    queryFn: ({ signal }) => listRuns(ws, filter, { signal }),
    placeholderData: (previous) => previous,
  });
  const matches = (text: string) => text.toLowerCase().includes(query.trim().toLowerCase());
  const pages: Found[] = PAGES.map(({ label, to }) => ({ id: label, label, to: to(ws), group: 'Pages' }));
  const flows: Found[] = (workflows.data?.items ?? []).map((one) => ({
    id: one.id,
    label: one.name,
    description: one.live_version ? `version ${one.live_version} is live` : 'not published yet',
    to: paths.workflow(ws, one.id),
    group: 'Workflows',
  }));
  const found: Found[] = (runs.data?.items ?? []).map((run) => ({
    id: run.id,
    label: `Run ${run.number} · ${run.workflow.name}`,
    description: run.failed_step && run.status === 'failed' ? `failed at ${run.failed_step.path}` : run.status,
    to: paths.run(ws, run.id),
    group: 'Runs',
  }));
  return [
    ...pages.filter((one) => matches(one.label)),
    ...flows.filter((one) => matches(one.label)).slice(0, 8),
    ...found,
  ];
}

const GROUPS = ['Pages', 'Workflows', 'Runs'] as const;
const ICONS = {
  Pages: <IconArrowRight size={17} />,
  Workflows: <IconHierarchy2 size={17} />,
  Runs: <IconPlayerPlay size={17} />,
};

function Results({ query }: { query: string }) {
  const ws = useWorkspace();
  const navigate = useNavigate();
  const found = useFound(ws, query);
  if (found.length === 0) return <Spotlight.Empty>Nothing is called '{query}' here.</Spotlight.Empty>;
  return GROUPS.map((group) => {
    const inGroup = found.filter((one) => one.group === group);
    if (inGroup.length === 0) return null;
    return (
      <Spotlight.ActionsGroup key={group} label={group}>
        {inGroup.map((one) => (
          <Spotlight.Action
            key={one.id}
            label={one.label}
            description={one.description ?? ''}
            leftSection={ICONS[group]}
            onClick={() => {
              navigate(one.to);
              spotlight.close();
            }}
          />
        ))}
      </Spotlight.ActionsGroup>
    );
  });
}

/** Ctrl-K: pages, workflows and runs by name or number. It asks the server only while it is open. */
export function CommandBar() {
  const [query, setQuery] = useState('');
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      maxHeight={420}
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      transitionProps={{ duration: 90 }}
    >
      <Spotlight.Search placeholder="Go to a page, a workflow or a run" leftSection={<IconSearch size={17} />} />
      <Spotlight.ActionsList>
        <Results query={query} />
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
