import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ANSWER_MS, type ConnectionState, LiveSocket, PING_EVERY_MS } from '../live-socket';

/** The other end of a websocket, in the hands of the test. */
class FakeSocket {
  readyState = 0;
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  readonly sent: unknown[] = [];
  close = vi.fn();

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.(new Event('open'));
  }

  say(message: unknown): void {
    this.onmessage?.(new MessageEvent('message', { data: JSON.stringify(message) }));
  }

  drop(): void {
    this.readyState = 3;
    this.onclose?.(new CloseEvent('close'));
  }
}

function setUp() {
  const sockets: FakeSocket[] = [];
  const states: ConnectionState[] = [];
  const live = new LiveSocket({
    url: () => 'ws://pawl/ws/live',
    random: () => 1,
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
  });
  live.onState((state) => states.push(state));
  live.connect();
  const last = (): FakeSocket => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error('no socket was opened');
    return socket;
  };
  return { live, sockets, states, last };
}

const topic = (after = 7) => ({ workspace: 'acme', run: 'r1', after: () => after, onMessage: vi.fn() });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the live socket', () => {
  it('subscribes what was followed before it was open', () => {
    const { live, last } = setUp();
    live.followRun(topic());
    expect(last().sent).toEqual([]);
    last().open();
    expect(live.state).toBe('live');
    expect(last().sent).toEqual([{ subscribe: { workspace: 'acme', run: 'r1', after: 7 } }]);
  });

  it('says how far it has read, so that more is sent', () => {
    const { live, last } = setUp();
    live.followRun(topic());
    last().open();
    last().say({ type: 'events', run: 'r1', events: [], last: 9 });
    expect(last().sent.at(-1)).toEqual({ seen: { run: 'r1', seq: 9 } });
  });

  it('comes back after a loss, by growing delays, and asks from where its followers stand by then', () => {
    const { live, sockets, states, last } = setUp();
    let seq = 7;
    live.followRun({ ...topic(), after: () => seq });
    last().open();
    last().drop();
    expect(live.state).toBe('reconnecting');
    seq = 12;
    vi.advanceTimersByTime(399);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    last().drop();
    vi.advanceTimersByTime(799);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(1);
    last().open();
    expect(states).toEqual(['live', 'reconnecting', 'live']);
    expect(last().sent).toEqual([{ subscribe: { workspace: 'acme', run: 'r1', after: 12 } }]);
  });

  it('never waits longer than ten seconds', () => {
    const { sockets, last } = setUp();
    for (let loss = 0; loss < 9; loss += 1) {
      const before = sockets.length;
      last().drop();
      vi.advanceTimersByTime(10_000);
      expect(sockets.length).toBeGreaterThan(before);
    }
  });

  it('hands a message to those who follow that run, and to no one else', () => {
    const { live, last } = setUp();
    const mine = topic();
    const other = { ...topic(), run: 'r2' };
    live.followRun(mine);
    live.followRun(other);
    last().open();
    const message = { type: 'events', run: 'r1', events: [], last: 7 };
    last().say(message);
    last().say({ type: 'something new', run: 'r1' });
    expect(mine.onMessage.mock.calls).toEqual([[message]]);
    expect(other.onMessage).not.toHaveBeenCalled();
  });

  it('unsubscribes when the last follower leaves', () => {
    const { live, last } = setUp();
    last().open();
    const leaveFirst = live.followRun(topic());
    const leaveSecond = live.followRun(topic());
    leaveFirst();
    expect(last().sent).not.toContainEqual({ unsubscribe: { run: 'r1' } });
    leaveSecond();
    expect(last().sent).toContainEqual({ unsubscribe: { run: 'r1' } });
  });

  it('takes a connection for lost within five seconds of its last word', () => {
    const { live, last, sockets } = setUp();
    last().open();
    vi.advanceTimersByTime(PING_EVERY_MS);
    expect(last().sent).toEqual([{ ping: 1 }]);
    last().say({ type: 'pong', n: 1 });
    const heard = live.heardAt;
    expect(PING_EVERY_MS + ANSWER_MS).toBeLessThanOrEqual(4500);
    vi.advanceTimersByTime(PING_EVERY_MS + ANSWER_MS - 1);
    expect(live.state).toBe('live');
    vi.advanceTimersByTime(1);
    expect(sockets[0]?.close).toHaveBeenCalled();
    expect(live.state).toBe('reconnecting');
    expect(live.heardAt).toBe(heard);
  });

  it('stays up where each ping is answered, however slow the clock of a page in the background ticks', () => {
    const { live, last } = setUp();
    last().open();
    for (let minute = 0; minute < 5; minute += 1) {
      vi.advanceTimersByTime(PING_EVERY_MS);
      vi.setSystemTime(Date.now() + 60_000);
      last().say({ type: 'pong', n: minute });
    }
    expect(live.state).toBe('live');
  });

  it('takes one for lost that never opens, and waits longer before each further try', () => {
    const { live, sockets, last } = setUp();
    vi.advanceTimersByTime(ANSWER_MS + 400);
    expect(sockets).toHaveLength(2);
    last().open(); // and falls silent: that is no success
    vi.advanceTimersByTime(PING_EVERY_MS + ANSWER_MS + 799);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(sockets).toHaveLength(3);
    expect(live.state).toBe('reconnecting');
  });

  it('tells polling from offline by whether the polls are answered, and neither while it is live', () => {
    const { live, last } = setUp();
    last().open();
    live.reportPoll(false);
    expect(live.state).toBe('live');
    last().drop();
    live.reportPoll(true);
    expect(live.state).toBe('polling');
    live.reportPoll(false);
    expect(live.state).toBe('offline');
  });

  it('hurries when the network comes back', () => {
    const { live, last, sockets } = setUp();
    last().drop();
    live.hurry();
    expect(sockets).toHaveLength(2);
    last().open();
    vi.advanceTimersByTime(3000);
    expect(sockets).toHaveLength(2);
  });
});
