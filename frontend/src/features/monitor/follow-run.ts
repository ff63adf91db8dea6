import { ApiError } from '../../api/errors';
import type { ServerMessage } from '../../api/live-messages';
import type { LiveSocket, RunTopic } from '../../api/live-socket';
import { type RunRef, readEvents, readSnapshot } from '../../api/runs';
import type { Breakpoint, EventsPage, RunEvent, Snapshot } from '../../api/types';
import { fromSnapshot, type RunState, reduce } from './reducer';

export const POLL_EVERY_MS = 2000;
/** A question into a dead network gets no answer at all: the next one must not wait for it. */
const POLL_LIMIT_MS = 4000;
const SHUT: ReadonlySet<number> = new Set([401, 403, 404]);
const NO_LONGER = 'This run is no longer open to you. It may be gone, or your membership or role was changed.';
/** A page of events that holds fewer is the last one; what is still missing then comes live, or shows as a gap again. */
const A_FULL_PAGE = 200;

export interface FollowerDoors {
  snapshot: (ref: RunRef) => Promise<Snapshot>;
  events: (ref: RunRef, after: number) => Promise<EventsPage>;
}

export interface FollowerListener {
  onState: (state: RunState, fresh: readonly RunEvent[]) => void;
  onError: (error: unknown) => void;
  /** It is no longer open to this person: nothing more will come. */
  onClosed: (error: ApiError) => void;
}

type Live = Pick<LiveSocket, 'followRun' | 'subscribeRun' | 'onState' | 'reportPoll' | 'state'>;

/**
 * Keeps one run true on the screen: a snapshot, then numbered events. A gap is filled over HTTP before anything later is
 * applied; while the socket is away the events are asked every two seconds, by the same path.
 */
export class RunFollower {
  private state: RunState | null = null;
  private isStopped = false;
  private isCatchingUp = false;
  private poll: ReturnType<typeof setInterval> | undefined;
  private leave: (() => void)[] = [];
  private readonly topic: RunTopic;

  constructor(
    private readonly ref: RunRef,
    private readonly live: Live,
    private readonly listener: FollowerListener,
    private readonly doors: FollowerDoors = {
      snapshot: (of) => readSnapshot(of),
      events: (of, n) => readEvents(of, n, { signal: AbortSignal.timeout(POLL_LIMIT_MS) }),
    },
  ) {
    this.topic = {
      workspace: ref.ws,
      run: ref.run,
      after: () => this.state?.seq ?? 0,
      onMessage: (message) => this.onMessage(message),
    };
  }

  async start(): Promise<void> {
    await this.loadSnapshot();
    if (this.isStopped) return;
    this.leave.push(
      this.live.followRun(this.topic),
      this.live.onState(() => this.watchConnection()),
    );
    this.watchConnection();
  }

  stop(): void {
    this.isStopped = true;
    clearInterval(this.poll);
    this.poll = undefined;
    for (const leave of this.leave) leave();
    this.leave = [];
  }

  /** Asks for what came since: after a command of one's own, so that its effect shows even with a slow socket. */
  refresh(): Promise<void> {
    return this.state ? this.catchUp() : this.loadSnapshot();
  }

  /** Those that the server has just answered. */
  learnBreakpoints(breakpoints: Breakpoint[]): void {
    if (this.state && !this.isStopped) this.publish({ ...this.state, run: { ...this.state.run, breakpoints } }, []);
  }

  private onMessage(message: ServerMessage): void {
    if (message.type === 'events') this.apply(message.events);
    else if (message.type === 'lagging') void this.loadSnapshot();
    else if (message.type === 'refused') {
      const error = new ApiError({ code: message.code, status: 403, detail: NO_LONGER });
      if (message.code === 'too_many_subscriptions') this.listener.onError(error);
      else this.shut(error);
    }
  }

  /** Whoever may not see the run any more keeps no old picture of it on the screen. */
  private shut(error: ApiError): void {
    if (this.isStopped) return;
    this.stop();
    this.listener.onClosed(error);
  }

  private fail(error: unknown): void {
    if (this.isStopped) return;
    if (this.state && error instanceof ApiError && SHUT.has(error.status)) this.shut(error);
    else this.listener.onError(error);
  }

  private apply(events: readonly RunEvent[]): void {
    if (!this.state || this.isStopped) return;
    const { state, gap, fresh } = reduce(this.state, { items: [...events] });
    const isRearmed = state.acts.breakpoints !== this.state.acts.breakpoints;
    if (fresh.length > 0) this.publish(state, fresh);
    if (isRearmed) void this.loadBreakpoints();
    if (gap) void this.catchUp();
  }

  private publish(state: RunState, fresh: readonly RunEvent[]): void {
    this.state = state;
    this.listener.onState(state, fresh);
  }

  private async loadSnapshot(): Promise<void> {
    try {
      const state = fromSnapshot(await this.doors.snapshot(this.ref));
      // An answer that was overtaken by events must not take the screen back in time.
      if (this.isStopped || (this.state && state.seq < this.state.seq)) return;
      this.publish(state, []);
    } catch (error) {
      this.failPoll(error);
    }
  }

  /** Events tell that somebody set or removed breakpoints, not which: those are asked for. */
  private async loadBreakpoints(): Promise<void> {
    try {
      const { run } = await this.doors.snapshot(this.ref);
      this.learnBreakpoints(run.breakpoints ?? []);
    } catch (error) {
      this.failPoll(error);
    }
  }

  private async catchUp(): Promise<void> {
    if (this.isCatchingUp || !this.state) return;
    this.isCatchingUp = true;
    try {
      let before = -1;
      while (this.state.seq > before && !this.isStopped) {
        before = this.state.seq;
        const page: EventsPage = await this.doors.events(this.ref, before);
        this.live.reportPoll(true);
        this.apply(page.items);
        if (page.items.length < A_FULL_PAGE) break;
      }
    } catch (error) {
      this.failPoll(error);
    } finally {
      this.isCatchingUp = false;
    }
  }

  /** No answer, or one of a server that cannot: the connection's trouble, and none of the run. */
  private failPoll(error: unknown): void {
    const isAway = error instanceof ApiError && (error.isOffline || error.status >= 500);
    if (isAway) this.live.reportPoll(false);
    if (!isAway || !this.state) this.fail(error);
  }

  private watchConnection(): void {
    const away = this.live.state !== 'live';
    if (away && this.poll === undefined) {
      this.poll = setInterval(() => void this.refresh(), POLL_EVERY_MS);
      void this.refresh();
    }
    if (!away) {
      clearInterval(this.poll);
      this.poll = undefined;
    }
  }
}
