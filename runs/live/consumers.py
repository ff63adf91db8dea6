"""The live socket: a browser subscribes to runs and lists; access is checked at each subscription and again while it
lasts.
"""

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from kit.errors import AppError
from runs import wire
from runs.live.hub import ListWatcher, Watcher, current_hub
from runs.selectors.runs import rows_of, run_for, runs_of
from runs.selectors.waits import open_waits
from teams.access import Actor, person, workspace_for
from teams.models import User, Workspace

CHECK_ACCESS_S = 3.0
RUNS_AT_MOST = 50  # that one socket may watch
LIST_AT_MOST = 100  # rows in one message
NOT_SIGNED_IN, NO_ACCESS = 4401, 4403

logger = logging.getLogger(__name__)


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    async def connect(self) -> None:
        self.watchers: dict[UUID, tuple[Watcher, str]] = {}
        self.lists: dict[str, ListWatcher] = {}
        self.checking: asyncio.Task[None] | None = None
        self.user_id = getattr(self.scope.get("user"), "pk", None)
        await self.accept()
        if self.user_id is None:
            await self.close(code=NOT_SIGNED_IN)
            return
        self.hub = current_hub()
        self.checking = asyncio.create_task(self._check_access_for_ever())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:  # also where the socket breaks off by an error, of which nobody tells `disconnect`
            self._let_go()

    def _let_go(self) -> None:
        checking = getattr(self, "checking", None)
        if checking is not None:
            checking.cancel()
        for run in list(getattr(self, "watchers", {})):
            self._unwatch(run)
        for slug in list(getattr(self, "lists", {})):
            self.hub.unwatch_list(self.lists.pop(slug))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            message = wire.read(text_data or "")
            match message:
                case wire.Ping(ping=number):
                    for watcher, _ in self.watchers.values():  # a page that is awake has read what came before
                        self.hub.seen(watcher, watcher.cursor)
                    if not self.hub.is_blind:  # else the page takes it for lost, asks over HTTP, and says how it stands
                        await self.say(wire.pong(number))
                case wire.Seen(seen=wire.RunSeen(run=run, seq=seq)):
                    if run in self.watchers:
                        self.hub.seen(self.watchers[run][0], seq)
                case wire.Unsubscribe(unsubscribe=name):
                    self._unwatch(name.run)
                case wire.Subscribe(subscribe=wire.RunSubscription() as wanted):
                    await self._watch(wanted)
                case wire.Subscribe(subscribe=wire.ListSubscription(workspace=slug)):
                    await self._watch_list(slug)
        except AppError as error:
            await self.say(wire.refused(error.code, error.message))

    async def say(self, message: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(message, cls=DjangoJSONEncoder))

    # ------------------------------------------------------------------ runs
    async def _watch(self, wanted: wire.RunSubscription) -> None:
        try:
            await database_sync_to_async(_run_visible)(self.user_id, wanted.workspace, wanted.run)
        except AppError as error:
            await self.say(wire.refused(error.code, error.message, wanted.run))
            return
        self._unwatch(wanted.run)
        if len(self.watchers) >= RUNS_AT_MOST:
            message = f"One page may watch {RUNS_AT_MOST} runs at once."
            await self.say(wire.refused("too_many_subscriptions", message, wanted.run))
            return
        watcher = Watcher(wanted.run, wanted.after, self.say)
        self.watchers[wanted.run] = (watcher, wanted.workspace)
        self.hub.watch(watcher)

    def _unwatch(self, run: UUID) -> None:
        found = self.watchers.pop(run, None)
        if found is not None:
            self.hub.unwatch(found[0])

    # ------------------------------------------------------------------ lists
    async def _watch_list(self, slug: str) -> None:
        workspace = await database_sync_to_async(_workspace)(self.user_id, slug)
        if slug in self.lists:
            self.hub.unwatch_list(self.lists[slug])

        async def tell(changed: set[UUID]) -> None:
            with suppress(AppError):
                rows, count = await database_sync_to_async(_news)(self.user_id, slug, changed)
                await self.say(wire.listed(rows))
                await self.say(wire.waits(count))

        watcher = ListWatcher(workspace.id, tell)
        self.lists[slug] = watcher
        self.hub.watch_list(watcher)
        await tell(set())

    # ------------------------------------------------------------------ access
    async def _check_access_for_ever(self) -> None:
        """A member who was removed, or signed out everywhere, loses the socket within seconds."""
        while True:
            await asyncio.sleep(CHECK_ACCESS_S)
            slugs = {slug for _, slug in self.watchers.values()} | set(self.lists)
            session = self.scope.get("session")
            key = getattr(session, "session_key", None)
            try:
                is_allowed = await database_sync_to_async(_still_allowed)(self.user_id, key, slugs)
            except Exception:  # whatever it was: checks that ended would leave the socket open for good
                logger.exception("access to the live socket could not be checked, again in %s s", CHECK_ACCESS_S)
                continue
            if not is_allowed:
                await self.close(code=NO_ACCESS)
                return


def _actor(user_id: UUID) -> Actor:
    return person(User.objects.get(pk=user_id, is_active=True))


def _workspace(user_id: UUID, slug: str) -> Workspace:
    return workspace_for(_actor(user_id), slug)


def _run_visible(user_id: UUID, slug: str, run_id: UUID) -> None:
    actor = _actor(user_id)
    run_for(actor, workspace_for(actor, slug), run_id)


def _news(user_id: UUID, slug: str, changed: set[UUID]) -> tuple[list[Any], int]:
    """The rows of the runs that changed (the newest ones where that is not known), and how many questions are open."""
    actor = _actor(user_id)
    workspace = workspace_for(actor, slug)
    runs = runs_of(actor, workspace).order_by("-number")
    if changed:
        runs = runs.filter(id__in=changed)
    return rows_of(list(runs[:LIST_AT_MOST])), open_waits(actor, workspace).count()


def _is_valid(session_key: str) -> bool:
    return Session.objects.filter(session_key=session_key, expire_date__gt=timezone.now()).exists()


def _still_allowed(user_id: UUID, session_key: str | None, slugs: set[str]) -> bool:
    if session_key is not None and not _is_valid(session_key):
        return False
    try:
        for slug in slugs:
            _workspace(user_id, slug)
    except (AppError, User.DoesNotExist):
        return False
    return True
