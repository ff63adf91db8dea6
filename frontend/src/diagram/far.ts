import { useStore } from '@xyflow/react';

/** Below this zoom words cannot be read, so a node is its icon and its status. */
const READABLE = 0.4;

/** Below this one an icon has six pixels: it only costs time, and there may be a thousand. */
const RECOGNISABLE = 0.18;

export const useIsFar = (): boolean => useStore((state) => state.transform[2] < READABLE);

export const useIsSpeck = (): boolean => useStore((state) => state.transform[2] < RECOGNISABLE);
