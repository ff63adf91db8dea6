import { Anchor, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { Link } from 'react-router';

import { keys } from '../../../../api/query-keys';
import { useMay, useWorkspace } from '../../../../api/workspace';
import { listConnections } from '../../../../api/workspace-calls';
import { paths } from '../../../../lib/paths';
import type { InputProps } from './types';

/** Which kinds of connection the node's kind accepts; empty: any. */
export const ConnectionKinds = createContext<readonly string[]>([]);

export function ConnectionField({ field, value, onChange, readOnly, invalid }: InputProps) {
  const ws = useWorkspace();
  const accepted = useContext(ConnectionKinds);
  const mayConnect = useMay('connect');
  const found = useQuery({
    queryKey: keys.connections(ws),
    queryFn: ({ signal }) => listConnections(ws, { signal }),
    staleTime: 30_000,
  });
  const fitting = (found.data?.items ?? []).filter((one) => accepted.length === 0 || accepted.includes(one.kind));
  const options = fitting.map((one) => ({ value: one.name, label: `${one.name} · ${one.kind}` }));
  const chosen = typeof value === 'string' ? value : null;
  const isMissing = found.isSuccess && chosen !== null && !options.some((one) => one.value === chosen);
  if (isMissing) options.unshift({ value: chosen, label: `${chosen} · not found here` });
  return (
    <>
      <Select
        aria-label={field.title}
        data={options}
        value={chosen}
        searchable
        clearable={!field.required}
        placeholder={found.isPending ? 'Loading…' : field.required ? 'Choose' : 'None'}
        nothingFoundMessage="No connection of this kind"
        error={invalid || isMissing}
        readOnly={readOnly}
        onChange={(next) => onChange(next ?? undefined)}
      />
      {found.isSuccess && fitting.length === 0 ? (
        <Text size="xs" c="dimmed" mt={4}>
          {mayConnect ? (
            <Anchor component={Link} to={paths.connections(ws)} size="xs">
              Add a connection
            </Anchor>
          ) : (
            'Ask an admin of the workspace to add a connection.'
          )}
        </Text>
      ) : null}
    </>
  );
}
