import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryRouter, RouterProvider } from 'react-router';

import type { ServerMessage } from '../api/live-messages';
import { LiveSocket } from '../api/live-socket';
import { createQueryClient, Ground } from '../app/providers';
import { routes } from '../app/router';

/** The server's end of the live connection. */
export interface ServerEnd {
  sent: unknown[];
  say: (message: ServerMessage) => void;
  drop: () => void;
}

function createLive(): { live: LiveSocket; end: ServerEnd } {
  const socket = {
    readyState: 1,
    onopen: null as (() => void) | null,
    onmessage: null as ((event: MessageEvent) => void) | null,
    onclose: null as (() => void) | null,
    onerror: null,
    send: (text: string) => {
      const message = JSON.parse(text);
      end.sent.push(message);
      if (message.ping) end.say({ type: 'pong', n: message.ping });
    },
    close: () => undefined,
  };
  const end: ServerEnd = {
    sent: [],
    say: (message) => socket.onmessage?.(new MessageEvent('message', { data: JSON.stringify(message) })),
    drop: () => socket.onclose?.(),
  };
  const live = new LiveSocket({ url: () => 'ws://pawl/ws/live', open: () => socket as unknown as WebSocket });
  live.connect();
  socket.onopen?.();
  return { live, end };
}

/** Opens the app at an address, with a live connection that the test drives. */
export function open(address: string) {
  const { live, end } = createLive();
  const client = createQueryClient();
  client.setDefaultOptions({ queries: { retry: false } });
  const router = createMemoryRouter(routes, { initialEntries: [address] });
  const view = render(
    <Ground client={client} live={live} env="test">
      <RouterProvider router={router} />
    </Ground>,
  );
  return {
    ...view,
    router,
    end,
    user: userEvent.setup(),
    leave: () => {
      view.unmount();
      live.close();
      client.clear();
    },
  };
}
