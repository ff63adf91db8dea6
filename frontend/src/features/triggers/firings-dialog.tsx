import { Button, Modal } from '@mantine/core';
import { IconClockPlay } from '@tabler/icons-react';
import { Link } from 'react-router';

import { useWorkspace } from '../../api/workspace';
import { Table } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import type { Firing, Trigger } from './api';
import classes from './triggers.module.css';
import { useFirings } from './use-triggers';
import { reasonOf } from './words';

/** The ledger: what became of each time that the trigger was due. */
export function FiringsDialog({ trigger, onClose }: { trigger: Trigger; onClose: () => void }) {
  const firings = useFirings(trigger.id);
  const rows = firings.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Modal opened onClose={onClose} title={`Ledger of '${trigger.name}'`} size={760}>
      {firings.isPending ? <LoadingRows label="Loading the ledger" /> : null}
      {firings.isError ? (
        <ErrorState error={firings.error} what="the ledger" onRetry={firings.refetch} compact />
      ) : null}
      {firings.isSuccess && rows.length === 0 ? (
        <EmptyState icon={<IconClockPlay size={22} />} title="It was not due yet" compact>
          Each time that it is due gets a line here, with its run or the reason why there is none.
        </EmptyState>
      ) : null}
      {rows.length > 0 ? (
        <Table label="Ledger" head={['Due', 'What became of it', 'Run', 'Why']}>
          {rows.map((firing) => (
            <Row key={firing.id} firing={firing} />
          ))}
        </Table>
      ) : null}
      {firings.hasNextPage ? (
        <Button
          variant="subtle"
          mt={8}
          loading={firings.isFetchingNextPage}
          onClick={() => void firings.fetchNextPage()}
        >
          Show older ones
        </Button>
      ) : null}
    </Modal>
  );
}

function Row({ firing }: { firing: Firing }) {
  const ws = useWorkspace();
  return (
    <tr>
      <td>
        <TimeAgo at={firing.due_at} />
      </td>
      <td>{firing.is_late ? `${firing.status}, late` : firing.status}</td>
      <td>
        {firing.run ? (
          <Link to={paths.run(ws, firing.run.id)}>
            {firing.run.number} {firing.run.status}
          </Link>
        ) : (
          '–'
        )}
      </td>
      <td className={classes.soft}>{reasonOf(firing)}</td>
    </tr>
  );
}
