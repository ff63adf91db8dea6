import { Tooltip } from '@mantine/core';

import { useConnectionState } from '../../api/live';
import type { ConnectionState } from '../../api/live-socket';
import classes from './frame.module.css';

const SAID: Record<ConnectionState, { word: string; sentence: string }> = {
  connecting: { word: 'connecting…', sentence: 'Opening the live connection.' },
  live: { word: 'live', sentence: 'Changes arrive as they happen.' },
  reconnecting: {
    word: 'reconnecting…',
    sentence: 'The live connection is lost. What you see may be a little old; nothing will be missed.',
  },
  polling: {
    word: 'polling',
    sentence: 'The live connection is lost. Pawl asks every two seconds instead; nothing is missed.',
  },
  offline: { word: 'offline', sentence: 'Pawl does not answer. What you see is the last that was heard.' },
};

/** Says honestly how fresh the page is. */
export function ConnectionIndicator() {
  const state = useConnectionState();
  const { word, sentence } = SAID[state];
  return (
    <Tooltip label={sentence} multiline w={240}>
      <output className={classes.connection} data-state={state} data-testid="connection">
        <span className={classes.dot} aria-hidden="true" />
        {word}
      </output>
    </Tooltip>
  );
}
