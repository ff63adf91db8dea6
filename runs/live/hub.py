"""One hub per web process: reads new events from PostgreSQL and fans them out to the sockets that watch.

A hint over Redis says which run has news; once a second every watched run is looked at anyway. So a lost hint, or a
Redis that is gone, costs a second and never an event. Events are read by their number, from each watcher's own cursor.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
import redis.asyncio
from django.conf import settings

from kit.clock import monotonic_s
from runs import wire
from runs.publish import CHANNEL

TICK_S = 1.0
BLIND_S = 1.5  # without an answer of the database
COALESCE_S = 0.03  # hints that come together are answered together
LIST_COALESCE_S = 0.25
LIST_LOOK_S = 2.0  # without a hint; one may be lost, and nobody would tell of that change again
TOO_FAR_BEHIND = 2_000  # events; then a snapshot is cheaper
UNSEEN_AT_MOST = 500  # events on their way to a browser that has not said that it read them: it may be asleep

LAST = "SELECT id, event_seq, run_day FROM runs_run WHERE id = ANY(%s)"
EVENTS = """SELECT seq, type, at, path, attempt, actor, data FROM runs_event
    WHERE run_day = %s AND run_id = %s AND seq > %s ORDER BY seq LIMIT %s"""

logger = logging.getLogger(__name__)

Send = Callable[[dict[str, Any]], Awaitable[None]]
TellList = Callable[[set[UUID]], Awaitable[None]]


@dataclass(eq=False)
class Watcher:
    """A socket's interest in one run. `cursor` is what was sent, `seen` what the browser said that it has read."""

    run: UUID
    cursor: int
    send: Send

    def __post_init__(self) -> None:
        self.seen = self.cursor

    @property
    def room(self) -> int:
        """How many more events may be sent. What is not sent stays in the database alone, and is read there later."""
        return max(0, UNSEEN_AT_MOST - (self.cursor - self.seen))


@dataclass(eq=False)
class ListWatcher:
    """A socket's interest in a workspace's list. `tell` gets the runs that changed; none means: look yourself."""

    workspace: UUID
    tell: TellList
    changed: set[UUID] = field(default_factory=set)
    told_at: float = 0.0


class Hub:
    def __init__(self) -> None:
        self._watchers: dict[UUID, set[Watcher]] = {}
        self._lists: set[ListWatcher] = set()
        self._dirty: set[UUID] = set()
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self.hears_hints = False
        self._asked_at: float | None = None  # since when a question to the database has had no answer

    @property
    def is_blind(self) -> bool:
        """It watches runs and cannot read them: nobody must be told that all is well."""
        return bool(self._watchers) and self._asked_at is not None and monotonic_s() - self._asked_at > BLIND_S

    def start(self) -> None:
        if not self._tasks:
            loops = (self._listen_for_ever, self._answer_for_ever, self._tick_for_ever, self._lists_for_ever)
            self._tasks = [asyncio.create_task(_guarded(loop)) for loop in loops]

    def watch(self, watcher: Watcher) -> None:
        self._watchers.setdefault(watcher.run, set()).add(watcher)
        self._look_at(watcher.run)

    def unwatch(self, watcher: Watcher) -> None:
        group = self._watchers.get(watcher.run, set())
        group.discard(watcher)
        if not group:
            self._watchers.pop(watcher.run, None)

    def seen(self, watcher: Watcher, seq: int) -> None:
        """The browser has read up to there: it gets more."""
        had_room = watcher.room
        watcher.seen = max(watcher.seen, min(seq, watcher.cursor))
        if had_room < UNSEEN_AT_MOST:
            self._look_at(watcher.run)

    def watch_list(self, watcher: ListWatcher) -> None:
        self._lists.add(watcher)

    def unwatch_list(self, watcher: ListWatcher) -> None:
        self._lists.discard(watcher)

    def _look_at(self, run: UUID) -> None:
        self._dirty.add(run)
        self._news.set()

    # ------------------------------------------------------------------ hints
    async def _listen_for_ever(self) -> None:
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2)
        try:
            async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
                await pubsub.subscribe(CHANNEL)
                self.hears_hints = True
                while True:
                    message = await pubsub.get_message(timeout=5)
                    if message is not None:
                        self._take_hint(message["data"])
        finally:
            self.hears_hints = False
            await client.aclose()

    def _take_hint(self, data: bytes) -> None:
        hint = json.loads(data)
        run, workspace = UUID(hint["run"]), hint["workspace"]
        if run in self._watchers:
            self._look_at(run)
        for watcher in self._lists:
            if str(watcher.workspace) == workspace:
                watcher.changed.add(run)

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for run in list(self._watchers):
                self._look_at(run)

    # ------------------------------------------------------------------ events
    async def _answer_for_ever(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            runs, self._dirty = self._dirty, set()
            if self._asked_at is None:
                self._asked_at = monotonic_s()
            try:
                await self._answer([run for run in runs if run in self._watchers])
                self._asked_at = None
            except psycopg.Error as error:
                logger.warning("events could not be read, again in a second: %s", error)
                self._connection = None
            await asyncio.sleep(COALESCE_S)

    async def _answer(self, runs: list[UUID]) -> None:
        if not runs:
            return
        connection = await self._connect()
        found = await connection.execute(LAST, (runs,))
        for run, last, run_day in await found.fetchall():
            behind = [watcher for watcher in self._watchers.get(run, ()) if watcher.cursor < last and watcher.room]
            if behind:
                await self._catch_up(run, behind, last=last, run_day=run_day)

    async def _catch_up(self, run: UUID, behind: list[Watcher], *, last: int, run_day: Any) -> None:
        for watcher in [each for each in behind if last - each.cursor > TOO_FAR_BEHIND]:
            behind.remove(watcher)
            watcher.cursor = watcher.seen = last
            await self._send(watcher, wire.lagging(run, last))
        if not behind:
            return
        first = min(watcher.cursor for watcher in behind)
        connection = await self._connect()
        found = await connection.execute(EVENTS, (run_day, run, first, TOO_FAR_BEHIND))
        events = [wire.event(row) for row in await found.fetchall()]
        for watcher in behind:
            news = [event for event in events if event["seq"] > watcher.cursor][: watcher.room]
            if news:
                watcher.cursor = news[-1]["seq"]
                await self._send(watcher, wire.events(run, news))

    async def _send(self, watcher: Watcher, message: dict[str, Any]) -> None:
        try:
            await watcher.send(message)
        except Exception:  # a socket that is gone must not keep news from the others; its consumer unwatches it
            logger.exception("a watcher of run %s was not reached", watcher.run)

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            database: dict[str, Any] = settings.DATABASES["default"]
            self._connection = await psycopg.AsyncConnection.connect(
                host=database["HOST"], port=database["PORT"] or None, dbname=database["NAME"], user=database["USER"],
                password=database["PASSWORD"], autocommit=True, application_name="pawl live", connect_timeout=5,
                tcp_user_timeout=10_000,
                **({"prepare_threshold": None} if settings.PGBOUNCER else {"options": "-c statement_timeout=5s"}),
            )  # fmt: skip
        return self._connection

    # ------------------------------------------------------------------ lists
    async def _lists_for_ever(self) -> None:
        while True:
            await asyncio.sleep(LIST_COALESCE_S if self.hears_hints else 2.0)
            for watcher in list(self._lists):
                changed, watcher.changed = watcher.changed, set()
                if not changed and self.hears_hints and monotonic_s() - watcher.told_at < LIST_LOOK_S:
                    continue
                watcher.told_at = monotonic_s()
                try:
                    await watcher.tell(changed)
                except Exception:  # as for runs: its consumer sees to it
                    logger.exception("a watcher of workspace %s was not reached", watcher.workspace)


async def _guarded(loop: Callable[[], Awaitable[None]]) -> None:
    """Starts a loop again whenever it fails: Redis and PostgreSQL come and go, the hub stays."""
    while True:
        try:
            await loop()
        except (redis.RedisError, psycopg.Error, OSError) as error:
            logger.warning("the hub lost a connection: %s", error)
        except Exception:  # a defect in one loop must not silence every page of this process
            logger.exception("the hub failed")
        await asyncio.sleep(1)


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def current_hub() -> Hub:
    """The hub of the running event loop, started at the first call."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    _hubs[loop].start()
    return _hubs[loop]
