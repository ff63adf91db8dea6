import { ActionIcon, Button, Menu, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconDots, IconLock, IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { keys } from '../../api/query-keys';
import type { Connection } from '../../api/types';
import { useMay, useWorkspace } from '../../api/workspace';
import { deleteConnection, listConnectionKinds, listConnections } from '../../api/workspace-calls';
import { notifyFailure } from '../../components/ui/notify';
import { Card, Page, Table } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { ConnectionDialog } from './connection-dialog';
import classes from './connections.module.css';
import { KIND_TITLES } from './titles';

const ACTIONS = (
  <span key="actions" className="visually-hidden">
    Actions
  </span>
);

/** /w/:ws/connections */
export function ConnectionsPage() {
  const ws = useWorkspace();
  const may = useMay('connect');
  const [edited, setEdited] = useState<Connection | 'new' | null>(null);
  const connections = useQuery({
    queryKey: keys.connections(ws),
    queryFn: ({ signal }) => listConnections(ws, { signal }),
  });
  const kinds = useQuery({
    queryKey: keys.connectionKinds(ws),
    queryFn: ({ signal }) => listConnectionKinds(ws, { signal }),
    staleTime: 600_000,
  });
  const items = connections.data?.items ?? [];
  const add = may ? (
    <Button leftSection={<IconPlus size={15} />} onClick={() => setEdited('new')} disabled={!kinds.data}>
      New connection
    </Button>
  ) : null;
  return (
    <Page
      title="Connections"
      hint="Credentials of outside systems. Secrets go in, and are never shown again."
      actions={add}
    >
      <Card>
        {connections.isPending ? <LoadingRows label="Loading the connections" /> : null}
        {connections.isError ? (
          <ErrorState error={connections.error} what="the connections" onRetry={connections.refetch} />
        ) : null}
        {connections.isSuccess && items.length === 0 ? (
          <EmptyState icon={<IconPlugConnected size={22} />} title="No connections yet" action={add}>
            A connection keeps what a step needs to reach an API, a database or a mail server. It never enters a graph.
          </EmptyState>
        ) : null}
        {items.length > 0 ? (
          <Table label="Connections" head={['Name', 'Kind', 'Where', 'Secrets', 'Changed', ACTIONS]}>
            {items.map((one) => (
              <Row key={one.id} ws={ws} connection={one} may={may} onEdit={() => setEdited(one)} />
            ))}
          </Table>
        ) : null}
      </Card>
      {edited !== null && kinds.data ? (
        <ConnectionDialog
          ws={ws}
          kinds={kinds.data.items}
          connection={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
        />
      ) : null}
    </Page>
  );
}

interface RowProps {
  ws: string;
  connection: Connection;
  may: boolean;
  onEdit: () => void;
}

function whereOf({ settings }: Connection): string {
  const { base_url: base, host, port, database, path } = settings;
  if (base) return String(base);
  if (host) return `${String(host)}${port ? `:${String(port)}` : ''}${database ? `/${String(database)}` : ''}`;
  return path ? String(path) : '–';
}

function Row({ ws, connection, may, onEdit }: RowProps) {
  return (
    <tr>
      <td>
        <strong>{connection.name}</strong>
      </td>
      <td>{KIND_TITLES[connection.kind] ?? connection.kind}</td>
      <td>
        <code>{whereOf(connection)}</code>
      </td>
      <td>
        {connection.secrets.length > 0 ? (
          <span className={classes.secrets}>
            <IconLock size={13} aria-hidden="true" /> {connection.secrets.join(', ')}
          </span>
        ) : (
          '–'
        )}
      </td>
      <td>
        <TimeAgo at={connection.updated_at} />
      </td>
      <td className={classes.menu}>{may ? <RowMenu ws={ws} connection={connection} onEdit={onEdit} /> : null}</td>
    </tr>
  );
}

function RowMenu({ ws, connection, onEdit }: Omit<RowProps, 'may'>) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteConnection(ws, connection.id),
    onError: (error) => notifyFailure(`'${connection.name}' was not deleted`, error),
    onSettled: () => client.invalidateQueries({ queryKey: keys.connections(ws) }),
  });
  const ask = () =>
    modals.openConfirmModal({
      title: `Delete '${connection.name}'?`,
      children: <Text size="sm">Steps that name it fail until there is one of that name again.</Text>,
      labels: { confirm: 'Delete the connection', cancel: 'Keep it' },
      confirmProps: { color: 'red' },
      onConfirm: () => remove.mutate(),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`More about ${connection.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>Change</Menu.Item>
        <Menu.Item color="red" onClick={ask}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
