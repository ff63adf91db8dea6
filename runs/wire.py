"""Messages between browser and server over the live socket: typed, numbered, small (docs/architecture.md, Live)."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kit.errors import BadInput


class BadMessage(BadInput):
    code = "bad_message"


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunSubscription(_Message):
    workspace: str
    run: UUID
    after: Annotated[int, Field(ge=0)] = 0  # the last event that the browser has


class ListSubscription(_Message):
    workspace: str
    list: Literal[True]


class Subscribe(_Message):
    subscribe: RunSubscription | ListSubscription


class RunName(_Message):
    run: UUID


class Unsubscribe(_Message):
    unsubscribe: RunName


class RunSeen(_Message):
    run: UUID
    seq: Annotated[int, Field(ge=0)]


class Seen(_Message):
    """How far the browser has read: it gets no more than so many events beyond that."""

    seen: RunSeen


class Ping(_Message):
    ping: int


Incoming = Subscribe | Unsubscribe | Seen | Ping
_incoming: TypeAdapter[Incoming] = TypeAdapter(Incoming)


def read(text: str) -> Incoming:
    """Raises BadMessage."""
    try:
        return _incoming.validate_json(text)
    except ValidationError as error:
        raise BadMessage("This message is none of subscribe, unsubscribe and ping.") from error


def events(run: UUID, found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "events", "run": str(run), "events": found, "last": found[-1]["seq"]}


def event(row: tuple[Any, ...]) -> dict[str, Any]:
    """An event as it goes out, from (seq, type, at, path, attempt, actor, data)."""
    seq, kind, at, path, attempt, actor, data = row
    return {
        "seq": seq, "type": kind, "at": at.isoformat().replace("+00:00", "Z"), "path": path, "attempt": attempt,
        "actor": actor, "data": json.loads(data),
    }  # fmt: skip


def lagging(run: UUID, last: int) -> dict[str, Any]:
    """So much happened since the browser looked that it should ask for a snapshot."""
    return {"type": "lagging", "run": str(run), "last": last}


def refused(code: str, message: str, run: UUID | None = None) -> dict[str, Any]:
    return {"type": "refused", "run": str(run) if run else None, "code": code, "message": message}


def pong(number: int) -> dict[str, Any]:
    return {"type": "pong", "n": number}


def listed(rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {"type": "list", "runs": rows}


def waits(count: int) -> dict[str, Any]:
    return {"type": "waits", "count": count}
