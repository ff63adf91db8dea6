import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop, IconTag, IconX } from '@tabler/icons-react';
import { useState } from 'react';

import type { BulkOperationName, Selection } from '../../api/bulk';
import type { Counted } from '../../api/lists';
import { useMay } from '../../api/workspace';
import { BulkDialog } from '../../components/bulk/bulk-dialog';
import { useShortcuts } from '../../components/ui/shortcuts';
import { formatCounted } from '../../lib/format';
import classes from './runs.module.css';
import type { Chosen } from './selection';

interface Props {
  chosen: Chosen;
  /** What 'all that match' stands for. */
  filter: Extract<Selection, { filter: unknown }>['filter'];
  /** There are more than those that are listed. */
  hasMore: boolean;
  areAllListed: boolean;
  count: Counted | undefined;
  onAll: () => void;
  onClear: () => void;
}

/** What can be done with the chosen runs; nothing before its preview was seen. */
export function BulkBar({ chosen, filter, hasMore, areAllListed, count, onAll, onClear }: Props) {
  const may = useMay('run');
  const [operation, setOperation] = useState<BulkOperationName | null>(null);
  useShortcuts('Chosen runs', [
    ...(may ? [{ key: 'r', label: 'Resume them', act: () => setOperation('resume') }] : []),
    ...(may ? [{ key: 'l', label: 'Label them', act: () => setOperation('label') }] : []),
    { key: 'Escape', label: 'Choose none', act: onClear },
  ]);
  const ids = [...chosen.ids];
  const all = count ? formatCounted(count, 'run') : 'all runs';
  const selection: Selection = chosen.isAll ? { filter } : { ids };
  return (
    <section className={classes.bulkBar} aria-label="Chosen runs">
      <strong className="num">{chosen.isAll ? `All that match: ${all}` : `${ids.length} chosen`}</strong>
      {areAllListed && hasMore && !chosen.isAll ? (
        <button type="button" className={classes.linkLike} onClick={onAll}>
          Select all that match ({all})
        </button>
      ) : null}
      <span className={classes.spacer} />
      {may ? (
        <>
          <Button leftSection={<IconPlayerPlay size={15} />} onClick={() => setOperation('resume')}>
            Resume…
          </Button>
          <Button variant="default" leftSection={<IconPlayerStop size={15} />} onClick={() => setOperation('cancel')}>
            Cancel…
          </Button>
          <Button variant="default" leftSection={<IconTag size={15} />} onClick={() => setOperation('label')}>
            Label…
          </Button>
        </>
      ) : (
        <span className={classes.soft}>Your role may look at runs, not act on them.</span>
      )}
      <Button variant="subtle" color="gray" aria-label="Choose none" px={6} onClick={onClear}>
        <IconX size={16} />
      </Button>
      {operation ? <BulkDialog asked={{ operation, selection }} onClose={() => setOperation(null)} /> : null}
    </section>
  );
}
