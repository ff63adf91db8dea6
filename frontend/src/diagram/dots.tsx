import { Background, BackgroundVariant } from '@xyflow/react';

import { useIsFar } from './far';

/** The grid's dots. From far away they cannot be seen, and painting thousands of them would take most of each frame. */
export function Dots() {
  return useIsFar() ? null : <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} />;
}
