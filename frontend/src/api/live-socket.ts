import { type ClientMessage, readMessage, type ServerMessage } from './live-messages';

/**
 * How the screen learns of changes: 'live' over the socket; 'reconnecting' while it is away; 'polling' while it is away
 * and asking every two seconds works; 'offline' while nothing answers.
 */
export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'polling' | 'offline';

export interface RunTopic {
  workspace: string;
  run: string;
  /** The last event that the follower holds; asked at each (re)connection. */
  after: () => number;
  onMessage: (message: ServerMessage) => void;
}

export interface ListTopic {
  workspace: string;
  onMessage: (message: ServerMessage) => void;
}

type Socket = Pick<WebSocket, 'send' | 'close' | 'readyState' | 'onopen' | 'onmessage' | 'onclose' | 'onerror'>;

export interface LiveOptions {
  url: () => string;
  open?: (url: string) => Socket;
  random?: () => number;
  /** The server closed it because nobody is signed in, or no longer a member. */
  onShutOut?: () => void;
}

/** A ping each so often, and so long for its answer: a dead end is known within five seconds, quiet or not. */
export const PING_EVERY_MS = 1500;
export const ANSWER_MS = 2500;
const FIRST_DELAY_MS = 400;
const MAX_DELAY_MS = 10_000;
const OPEN = 1;
const SHUT_OUT: ReadonlySet<number> = new Set([4401, 4403]);

/** One websocket for the whole page. Keeps its topics over reconnections; says honestly how it stands. */
export class LiveSocket {
  private readonly options: Required<LiveOptions>;
  private readonly runs = new Map<string, Set<RunTopic>>();
  private readonly lists = new Set<ListTopic>();
  private readonly listeners = new Set<(state: ConnectionState) => void>();
  private socket: Socket | null = null;
  private attempt = 0;
  private pings = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private heartbeat: ReturnType<typeof setInterval> | undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private lastHeard = Date.now();
  private current: ConnectionState = 'connecting';

  constructor(options: LiveOptions) {
    this.options = { open: (url) => new WebSocket(url), random: Math.random, onShutOut: () => undefined, ...options };
  }

  get state(): ConnectionState {
    return this.current;
  }

  /** When the server last said anything, by the socket or to a poll. */
  get heardAt(): number {
    return this.lastHeard;
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  connect(): void {
    if (this.socket) return;
    clearTimeout(this.retry);
    const socket = this.options.open(this.options.url());
    this.socket = socket;
    this.expectAnswer(socket);
    socket.onopen = () => this.opened();
    socket.onmessage = (event: MessageEvent) => this.heard(String(event.data));
    socket.onclose = (event: CloseEvent) => {
      if (SHUT_OUT.has(event.code)) this.options.onShutOut();
      this.lost(socket);
    };
    clearInterval(this.heartbeat);
    this.heartbeat = setInterval(() => this.beat(), PING_EVERY_MS);
  }

  close(): void {
    clearTimeout(this.retry);
    clearTimeout(this.patience);
    clearInterval(this.heartbeat);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  /** Tries at once instead of waiting for the back-off: the network came back, or the page came to the front. */
  hurry(): void {
    if (this.socket) return;
    this.attempt = 0;
    this.connect();
  }

  /** A follower that asks over HTTP tells whether it was answered. Means nothing while the socket is up. */
  reportPoll(answered: boolean): void {
    if (answered) this.lastHeard = Date.now();
    if (this.current !== 'live') this.become(answered ? 'polling' : 'offline');
  }

  followRun(topic: RunTopic): () => void {
    const topics = this.runs.get(topic.run) ?? new Set();
    this.runs.set(topic.run, topics.add(topic));
    this.subscribeRun(topic);
    return () => {
      topics.delete(topic);
      if (topics.size > 0) return;
      this.runs.delete(topic.run);
      this.send({ unsubscribe: { run: topic.run } });
    };
  }

  /** Asks for a run's events again from where its follower stands. */
  subscribeRun({ workspace, run, after }: RunTopic): void {
    this.send({ subscribe: { workspace, run, after: after() } });
  }

  /** A list stays subscribed on the wire: the frame follows it for as long as the page is open. */
  followList(topic: ListTopic): () => void {
    this.lists.add(topic);
    this.send({ subscribe: { workspace: topic.workspace, list: true } });
    return () => this.lists.delete(topic);
  }

  private opened(): void {
    this.answered();
    this.become('live');
    for (const topics of this.runs.values()) for (const topic of topics) this.subscribeRun(topic);
    const spaces = new Set([...this.lists].map((topic) => topic.workspace));
    for (const workspace of spaces) this.send({ subscribe: { workspace, list: true } });
  }

  private heard(text: string): void {
    this.answered();
    const message = readMessage(text);
    if (!message || message.type === 'pong') {
      this.attempt = 0; // it answers: the next loss is a new one. One that opens and falls silent is not.
      return;
    }
    if (message.type === 'list' || message.type === 'waits' || !message.run) {
      for (const topic of [...this.lists]) topic.onMessage(message);
      return;
    }
    for (const topic of [...(this.runs.get(message.run) ?? [])]) topic.onMessage(message);
    // The server holds back what goes beyond a few hundred unread events: a page that sleeps must not fill its memory.
    if (message.type === 'events') this.send({ seen: { run: message.run, seq: message.last } });
  }

  private lost(socket: Socket): void {
    if (this.socket !== socket) return;
    this.socket = null;
    clearTimeout(this.patience);
    this.patience = undefined;
    clearInterval(this.heartbeat);
    if (this.current === 'live' || this.current === 'connecting') this.become('reconnecting');
    const ceiling = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.attempt);
    this.attempt += 1;
    // Half of it is jitter: five hundred pages must not come back in the same instant.
    this.retry = setTimeout(() => this.connect(), ceiling / 2 + (this.options.random() * ceiling) / 2);
  }

  private beat(): void {
    const { socket } = this;
    if (!socket || this.patience !== undefined) return;
    this.pings += 1;
    this.expectAnswer(socket);
    this.send({ ping: this.pings });
  }

  /** Asked just now. A half-open connection may take minutes to notice that it closes, so it counts as lost by itself. */
  private expectAnswer(socket: Socket): void {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      socket.close();
      this.lost(socket);
    }, ANSWER_MS);
  }

  private answered(): void {
    this.lastHeard = Date.now();
    clearTimeout(this.patience);
    this.patience = undefined;
  }

  private send(message: ClientMessage): void {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(message));
  }

  private become(state: ConnectionState): void {
    if (this.current === state) return;
    this.current = state;
    for (const listener of [...this.listeners]) listener(state);
  }
}
