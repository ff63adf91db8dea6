"""What is turned away before Django sees it: bodies that are too large, and websockets of foreign pages."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from config.errors import CONTENT_TYPE, body_of
from teams.api.parsing import body_too_large

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]


class _TooLarge(Exception):
    """The body grew past the limit while it was read."""


class BodyGate:
    """Answers 413 to a body beyond the limit, before Django keeps it on disk; also to one that hides its length."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if _length(scope) > limit:
            await _refuse(send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise _TooLarge
            return message

        try:
            await self.app(scope, counted, send)
        except _TooLarge:
            await _refuse(send)


def _header(scope: Scope, name: bytes) -> str:
    found = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    return str(found.decode("latin-1"))


def _length(scope: Scope) -> int:
    text = _header(scope, b"content-length")
    return int(text) if text.isdecimal() else 0


async def _refuse(send: Send) -> None:
    error = body_too_large()
    body = json.dumps(body_of(error)).encode()
    headers = [
        (b"content-type", CONTENT_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class SameOrigin:
    """Closes a websocket that a page of another origin opened.

    The host alone does not tell: a page of another program on this machine has another port, and the browser sends the
    session's cookie for it all the same.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = _header(scope, b"origin")
        same = urlsplit(origin).netloc == _header(scope, b"host") and bool(origin)
        if same or origin in settings.CSRF_TRUSTED_ORIGINS:
            await self.app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4403})
