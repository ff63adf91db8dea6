import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { keys } from '../../../../api/query-keys';
import { useWorkspace } from '../../../../api/workspace';
import { listWorkflows } from '../../../../api/workspace-calls';
import type { InputProps } from './types';

/** A workflow of the workspace, by its id. */
export function WorkflowField({ field, value, onChange, readOnly, invalid }: InputProps) {
  const ws = useWorkspace();
  const found = useQuery({
    queryKey: [...keys.workflows(ws), 'choice'],
    queryFn: ({ signal }) => listWorkflows(ws, { signal }),
    staleTime: 30_000,
  });
  const options = (found.data?.items ?? []).map((one) => ({
    value: one.id,
    label: one.live_version === null ? `${one.name} · not published` : one.name,
  }));
  const chosen = typeof value === 'string' && value !== '' ? value : null;
  const isMissing = found.isSuccess && chosen !== null && !options.some((one) => one.value === chosen);
  if (isMissing) options.unshift({ value: chosen, label: `${chosen} · not found here` });
  return (
    <Select
      aria-label={field.title}
      data={options}
      value={chosen}
      searchable
      placeholder={found.isPending ? 'Loading…' : 'Choose'}
      nothingFoundMessage="No such workflow"
      error={invalid}
      readOnly={readOnly}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
