import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiError } from '../../../api/errors';
import type { ServerMessage } from '../../../api/live-messages';
import type { ConnectionState, RunTopic } from '../../../api/live-socket';
import type { EventsPage, RunEvent } from '../../../api/types';
import { Recorder } from '../../../testing/world/recorder';
import { failedRun } from '../../../testing/world/runs';
import { POLL_EVERY_MS, RunFollower } from '../follow-run';
import type { RunState } from '../reducer';

const seed = { id: 'r', number: 1, ago_s: 600 };

/** A live connection that the test drives, and a server that knows all events of a run. */
function setUp(known: number) {
  const whole = failedRun(seed);
  const early = new Recorder(seed);
  let topic: RunTopic | undefined;
  let onState: ((state: ConnectionState) => void) | undefined;
  const live = {
    state: 'live' as ConnectionState,
    followRun: vi.fn((one: RunTopic) => {
      topic = one;
      return () => {
        topic = undefined;
      };
    }),
    subscribeRun: vi.fn(),
    reportPoll: vi.fn(),
    onState: (listener: (state: ConnectionState) => void) => {
      onState = listener;
      return () => {
        onState = undefined;
      };
    },
  };
  const seen: RunState[] = [];
  const errors: unknown[] = [];
  const closed: ApiError[] = [];
  const heard: RunEvent[] = [];
  const doors = {
    snapshot: vi.fn(async () => ({ ...early.snapshot(), seq: known })),
    events: vi.fn(
      async (_: unknown, after: number): Promise<EventsPage> => ({
        items: whole.events.slice(after, after + 200),
        last: Math.min(after + 200, whole.events.length),
      }),
    ),
  };
  const listener = {
    onState: (state: RunState, fresh: readonly RunEvent[]) => {
      seen.push(state);
      heard.push(...fresh);
    },
    onError: (error: unknown) => errors.push(error),
    onClosed: (error: ApiError) => closed.push(error),
  };
  const follower = new RunFollower({ ws: 'acme', run: 'r' }, live, listener, doors);
  const become = (state: ConnectionState) => {
    live.state = state;
    onState?.(state);
  };
  const say = (message: ServerMessage) => topic?.onMessage(message);
  const events = (from: number, to: number): ServerMessage => ({
    type: 'events',
    run: 'r',
    events: whole.events.slice(from - 1, to),
    last: to,
  });
  return { whole, live, seen, errors, closed, heard, doors, follower, become, say, events, topicOf: () => topic };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a run is followed', () => {
  it('from its snapshot on, and the socket is asked for what comes after it', async () => {
    const { follower, seen, topicOf } = setUp(1);
    await follower.start();
    expect(seen).toHaveLength(1);
    expect(topicOf()?.after()).toBe(1);
    follower.stop();
    expect(topicOf()).toBeUndefined();
  });

  it('over a gap: the missing events are asked, each is applied once and in order', async () => {
    const { follower, say, events, whole, heard, doors } = setUp(1);
    await follower.start();
    say(events(2, 4));
    say(events(9, 12));
    await vi.waitFor(() => expect(heard).toHaveLength(whole.events.length - 1));
    say(events(9, 12));
    expect(heard.map((event) => event.seq)).toEqual(whole.events.slice(1).map((event) => event.seq));
    expect(doors.events.mock.calls[0]?.[1]).toBe(4);
    follower.stop();
  });

  it('by asking every two seconds while the socket is away, and no longer once it is back', async () => {
    const { follower, become, doors, live, seen } = setUp(1);
    await follower.start();
    become('reconnecting');
    await vi.advanceTimersByTimeAsync(POLL_EVERY_MS + 10);
    expect(doors.events).toHaveBeenCalled();
    expect(live.reportPoll).toHaveBeenCalledWith(true);
    expect(seen.at(-1)?.run.status).toBe('failed');
    become('live');
    const calls = doors.events.mock.calls.length;
    await vi.advanceTimersByTimeAsync(3 * POLL_EVERY_MS);
    expect(doors.events).toHaveBeenCalledTimes(calls);
    follower.stop();
  });

  it('honestly: a poll that is not answered is told as such, and is no error of the run', async () => {
    const { follower, become, doors, live, errors } = setUp(1);
    await follower.start();
    doors.events.mockRejectedValue(new ApiError({ code: 'unreachable', status: 0, detail: 'no answer' }));
    become('reconnecting');
    await vi.advanceTimersByTimeAsync(POLL_EVERY_MS + 10);
    expect(live.reportPoll).toHaveBeenCalledWith(false);
    expect(errors).toEqual([]);
    follower.stop();
  });

  it('anew from a snapshot when the server says that it lags, but never back in time', async () => {
    const { follower, say, events, doors, seen } = setUp(1);
    await follower.start();
    say(events(2, 20));
    say({ type: 'lagging', run: 'r', last: 20 });
    await vi.waitFor(() => expect(doors.snapshot).toHaveBeenCalledTimes(2));
    expect(seen.at(-1)?.seq).toBe(20);
    follower.stop();
  });

  it('at once, and not two seconds later, when the socket is lost', async () => {
    const { follower, become, doors } = setUp(1);
    await follower.start();
    become('reconnecting');
    await vi.advanceTimersByTimeAsync(1);
    expect(doors.events).toHaveBeenCalledWith(expect.anything(), 1);
    follower.stop();
  });

  it('honestly, too, where a server answers that it cannot', async () => {
    const { follower, become, doors, live, errors } = setUp(1);
    await follower.start();
    doors.events.mockRejectedValue(new ApiError({ code: 'unavailable', status: 503, detail: 'the database is away' }));
    become('reconnecting');
    await vi.advanceTimersByTimeAsync(1);
    expect(live.reportPoll).toHaveBeenLastCalledWith(false);
    expect(errors).toEqual([]);
    follower.stop();
  });

  it('until it is refused: then nothing more of it is asked', async () => {
    const { follower, say, closed, topicOf } = setUp(1);
    await follower.start();
    say({ type: 'refused', run: 'r', code: 'run_not_found', message: 'There is no such run.' });
    expect(closed).toHaveLength(1);
    expect(topicOf()).toBeUndefined();
  });

  it('until a poll is refused, since a membership may end while the socket is away', async () => {
    const { follower, become, doors, closed } = setUp(1);
    await follower.start();
    doors.events.mockRejectedValue(new ApiError({ code: 'workspace_not_found', status: 404, detail: 'No such one.' }));
    become('reconnecting');
    await vi.advanceTimersByTimeAsync(3 * POLL_EVERY_MS);
    expect(closed).toHaveLength(1);
    expect(doors.events).toHaveBeenCalledTimes(1);
  });
});
