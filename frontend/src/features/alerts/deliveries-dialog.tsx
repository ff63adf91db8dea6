import { Button, Modal } from '@mantine/core';

import { ErrorState, LoadingRows } from '../../components/ui/states';
import classes from './alerts.module.css';
import type { Alert } from './api';
import { DeliveryRow } from './delivery-row';
import { useDeliveries } from './use-alerts';

export function DeliveriesDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const deliveries = useDeliveries(alert.id);
  const rows = deliveries.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Modal opened onClose={onClose} title={`Deliveries of '${alert.name}'`} size={760}>
      {deliveries.isPending ? <LoadingRows label="Loading the deliveries" /> : null}
      {deliveries.isError ? (
        <ErrorState error={deliveries.error} what="the deliveries" onRetry={deliveries.refetch} compact />
      ) : null}
      <ul className={classes.list} aria-label="Deliveries">
        {rows.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {deliveries.hasNextPage ? (
        <Button
          variant="subtle"
          mt={8}
          loading={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          Show older ones
        </Button>
      ) : null}
    </Modal>
  );
}
