import { setupServer } from 'msw/node';

import { createHandlers } from './world/handlers';
import { World } from './world/world';

/** The same small Pawl for unit tests: no clock runs unless a test starts it. */
export function createMockServer() {
  const world = new World();
  return { world, server: setupServer(...createHandlers(world)) };
}
