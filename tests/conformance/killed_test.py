"""Every kind is killed in the middle of its body, or told to end there, and run again with the same key: the second
attempt gives what an undisturbed one gives, and the outside looks as after one.

A real process is killed at a line of the step library that it is about to execute: at the first one, at the last one,
and at some in between. What it had told its context outlives it, as it would in the database.
"""

import email
import itertools
import mmap
import os
import pickle
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from config.services.house import REPOSITORY
from config.services.ports import free_port
from steps import registry, storage
from steps.base import Delivery, StepFailure
from tests.conformance.test_kinds import LOCAL
from tests.integration.steps_email.test_email import Mailbox
from tests.integration.steps_http.local_server import LocalServer, Seen, local_server, reply
from tests.step_context import FakeContext

LIBRARY = f"{REPOSITORY}/steps/"
BETWEEN = 3  # so many lines of each body, besides its first and its last one
ANSWERED, FAILED, TOLD = 0, 3, 4  # exit codes of the process that runs a body
CONNECTED: dict[str, dict[str, Any]] = {
    "fail": {"message": "on purpose"},
    "http_request": {"connection": "api", "url": "/orders", "method": "POST", "body_type": "json", "body": {"a": 1}},
    "sql": {"connection": "shop", "statement": "insert into item (name) values ('desk')", "read_only": False},
    "email": {"connection": "mail", "to": ["ana@acme.example"], "subject": "Hello", "text": "there"},
}
CONFIGS = {**LOCAL, **CONNECTED}
SLOW = {"ocr"}  # pure, and seconds for one page: it reads a file as read_file does, and leaves nothing
UNSTEADY = ("headers", "duration_ms")  # of an outside answer: when it was given


class ToldToEnd(BaseException):
    """What a body's thread meets at TERM, wherever it is."""


@dataclass
class LastingContext(FakeContext):
    """What a body tells it outlives the body's process."""

    told: Path = Path()
    intents: list[str] = field(default_factory=list)

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        return self._lasting(super().once(key, function))

    def act(self, name: str, function: Callable[[], Any], **detail: Any) -> Any:
        self.intents.append(name)
        self._lasting()
        return self._lasting(super().act(name, function, **detail))

    def _lasting(self, value: Any = None) -> Any:
        part = self.told.with_suffix(".part")
        part.write_bytes(pickle.dumps({"kept": self.kept, "acts": self.acts, "intents": self.intents}))
        part.replace(self.told)
        return value

    def after_its_end(self) -> "LastingContext":
        """The same context, as the engine knows it once the process is gone."""
        return replace(self, **pickle.loads(self.told.read_bytes())) if self.told.exists() else self

    @property
    def is_unknown(self) -> bool:
        """An intent without a result: nobody knows whether it happened."""
        return any(name not in self.acts for name in self.intents)


@dataclass
class Outside:
    """A storage, a database, a mail server and an API, which keep what bodies do to them."""

    root: Path
    api: LocalServer
    mailbox: Mailbox
    smtp: Controller

    def begin(self) -> LastingContext:
        """All as it was, and a first attempt."""
        for place in [self.root, self.root.parent / "told.pickle"]:
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        self.root.mkdir()
        (self.root / "there.txt").write_text("there")
        with closing(sqlite3.connect(self.root / "shop.sqlite3")) as shop, shop:
            shop.execute("create table item (id integer primary key, name text)")
        self.api.seen.clear()
        self.mailbox.taken.clear()
        mail = {"host": "127.0.0.1", "port": self.smtp.port, "security": "none", "sender": "pawl@acme.example"}
        return LastingContext(
            storage_root=self.root, run_input={"a": 1}, told=self.root.parent / "told.pickle",
            outbound_allow=frozenset({self.api.address, f"127.0.0.1:{self.smtp.port}"}),
            connections={
                "api": {"base_url": self.api.url("/")}, "shop": {"engine": "sqlite", "path": "shop.sqlite3"},
                "mail": mail,
            },
        )  # fmt: skip

    def effects(self) -> Any:
        """Each one once, however often it was asked for: that is what the idempotency key is for."""
        files = {
            str(place.relative_to(self.root)): place.read_bytes()
            for place in sorted(self.root.rglob("*"))
            if place.is_file() and not storage.is_part(place) and not place.name.startswith("shop.sqlite3")
        }
        with closing(sqlite3.connect(self.root / "shop.sqlite3")) as shop:
            rows = shop.execute("select name from item").fetchall()
        calls = {
            (seen.method, seen.path, seen.headers.get("idempotency-key"), seen.body)
            for seen in self.api.seen
            if len(seen.body) == int(seen.headers.get("content-length", 0))  # else it was cut off: no server acts on it
        }
        mails = [email.message_from_bytes(bytes(taken.content or b"")) for taken in self.mailbox.taken]
        return files, rows, calls, {(mail["Message-ID"], mail["Idempotency-Key"], mail["Subject"]) for mail in mails}

    def is_tidy(self) -> bool:
        return not any(storage.is_part(place) for place in self.root.rglob("*"))


def taken(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
    reply(handler, 200, b'{"ok": true}', Content_Type="application/json")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    mailbox = Mailbox()
    smtp = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    smtp.start()
    with local_server(taken) as api:
        yield Outside(tmp_path_factory.mktemp("outside") / "storage", api, mailbox, smtp)
    smtp.stop(no_assert=True)


def answer_of(kind: str, ctx: FakeContext) -> Any:
    """What the body gives, or how it fails."""
    spec = registry.get(kind)
    try:
        given = registry.load_body(kind)(spec.config.model_validate(CONFIGS[kind]), ctx)
    except StepFailure as failure:
        return failure.code, failure.message
    return {name: value for name, value in given.items() if name not in UNSTEADY} if isinstance(given, dict) else given


def run_apart(kind: str, ctx: FakeContext, act: Callable[[int], None]) -> int:
    """The body in a process of its own, which calls `act` before each line of the step library, with its number. The
    process's exit code, or minus the signal that ended it.
    """
    registry.load_body(kind)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.alarm(30)
        code = FAILED
        with suppress(BaseException):
            code = _traced(kind, ctx, act)
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # as the launcher does with whatever a body has started
    return os.waitstatus_to_exitcode(status)


def _traced(kind: str, ctx: FakeContext, act: Callable[[int], None]) -> int:
    number = itertools.count(1)

    def before_line(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        if event == "line":
            act(next(number))
        return before_line

    sys.settrace(before_line)
    try:
        answer_of(kind, ctx)
    except ToldToEnd:
        return TOLD
    finally:
        sys.settrace(None)
    return ANSWERED


def lines_of(kind: str, ctx: LastingContext) -> int:
    """How many lines of the library it takes undisturbed."""
    counted = mmap.mmap(-1, 8)  # shared with the process

    def count(number: int) -> None:
        counted[:] = number.to_bytes(8, "big")

    assert run_apart(kind, ctx, count) == ANSWERED
    return int.from_bytes(counted[:], "big")


def some(lines: int) -> list[int]:
    return sorted({1, lines, *(1 + lines * place // (BETWEEN + 1) for place in range(1, BETWEEN + 1))})


def killed(number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def told_to_end(number: int) -> None:
    raise ToldToEnd


ENDS = {"killed": (killed, (-signal.SIGKILL,)), "told to end": (told_to_end, (TOLD, ANSWERED))}


def test_every_kind_is_ended_somewhere() -> None:
    assert CONFIGS.keys() | SLOW == set(registry.BUILTIN)


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("kind", CONFIGS)
def test_a_body_that_is_ended_at_any_line_runs_again_as_if_nothing_had_been(
    outside: Outside, kind: str, how: str
) -> None:
    untouched = outside.begin() and outside.effects()
    answer, effects = answer_of(kind, outside.begin()), outside.effects()  # and what it imports later is there by now
    lines = lines_of(kind, outside.begin())
    end, codes = ENDS[how]
    for at in some(lines):
        first = outside.begin()
        code = run_apart(kind, first, lambda number, at=at: end(number) if number == at else None)
        was_shorter = at == lines and code == ANSWERED  # reading from a socket takes now a line more, now fewer
        assert code in codes or was_shorter, f"line {at} of {lines}: it ended with {code}"
        first = first.after_its_end()
        if not first.intents:
            assert outside.effects() == untouched, f"line {at}: it acted without saying so before"
        if registry.get(kind).delivery_of(CONFIGS[kind]) is Delivery.AT_MOST_ONCE and first.is_unknown:
            assert outside.effects() in (untouched, effects), f"line {at}: half of it happened"
            continue  # a person decides: it is not run again by itself
        assert how == "killed" or outside.is_tidy(), f"line {at}: it left something behind"
        assert answer_of(kind, first.next_attempt()) == answer, f"line {at} of {lines}"
        assert outside.effects() == effects, f"line {at} of {lines}"
