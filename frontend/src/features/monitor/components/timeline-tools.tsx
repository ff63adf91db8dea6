import { ActionIcon, Tooltip } from '@mantine/core';
import { IconArrowsHorizontal, IconZoomIn, IconZoomOut } from '@tabler/icons-react';

import type { Zoom } from '../use-zoom';
import classes from './timeline-view.module.css';

/** What the bars mean, and how near they are looked at. */
export function TimelineTools({ zoom }: { zoom: Zoom }) {
  return (
    <div className={classes.tools}>
      <ul className={classes.legend} aria-label="What the bars mean">
        <li data-kind="queued">in the queue</li>
        <li data-kind="succeeded">attempt succeeded</li>
        <li data-kind="failed">attempt failed</li>
        <li data-kind="running">running</li>
        <li data-kind="pause">pause before a retry</li>
        <li data-kind="waiting">waiting, no worker held</li>
        <li data-kind="reused">result taken over</li>
      </ul>
      <div className={classes.zoom}>
        <Tooltip label="Nearer (+)">
          <ActionIcon aria-label="Nearer" onClick={() => zoom.by(0.5)}>
            <IconZoomIn size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Further away (-)">
          <ActionIcon aria-label="Further away" disabled={zoom.isFit} onClick={() => zoom.by(2)}>
            <IconZoomOut size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Fit the whole run (0)">
          <ActionIcon aria-label="Fit the whole run" disabled={zoom.isFit} onClick={zoom.fit}>
            <IconArrowsHorizontal size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
    </div>
  );
}
