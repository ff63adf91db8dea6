import { ws } from 'msw';
import { setupWorker } from 'msw/browser';

import { liveUrl } from '../api/live';
import type { ClientMessage, ServerMessage } from '../api/live-messages';
import { createHandlers } from './world/handlers';
import { World } from './world/world';

type Subscription = Extract<ClientMessage, { subscribe: unknown }>['subscribe'];

/** Serves the app from memory: `npm run dev:mock`. `?still` in the address stops the clock, for screenshots. */
export async function startMock(): Promise<void> {
  const world = new World();
  const live = ws.link(liveUrl());
  const onConnection = live.addEventListener('connection', ({ client }) => {
    const followed = new Set<string>();
    let followsList = false;
    const send = (message: ServerMessage) => client.send(JSON.stringify(message));
    const leave = world.onEvents((run, events) => {
      if (followed.has(run.run.id)) send({ type: 'events', run: run.run.id, events, last: run.state.seq });
      if (followsList) send({ type: 'list', runs: [run.run] });
      if (followsList && events.some((event) => event.path === 'review'))
        send({ type: 'waits', count: world.waits().length });
    });
    client.addEventListener('close', leave);
    const subscribe = (topic: Subscription) => {
      if ('list' in topic) {
        followsList = true;
        return;
      }
      followed.add(topic.run);
      const events = world.find(topic.run)?.events.slice(topic.after) ?? [];
      if (events.length > 0) send({ type: 'events', run: topic.run, events, last: topic.after + events.length });
    };
    client.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as ClientMessage;
      if ('ping' in message) send({ type: 'pong', n: message.ping });
      else if ('subscribe' in message) subscribe(message.subscribe);
      else if ('unsubscribe' in message && 'run' in message.unsubscribe) followed.delete(message.unsubscribe.run);
    });
  });
  const worker = setupWorker(...createHandlers(world), onConnection);
  await worker.start({ onUnhandledRequest: 'bypass', quiet: true });
  if (!new URLSearchParams(window.location.search).has('still')) world.start();
}
