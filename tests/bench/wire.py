"""Counts what a program says to PostgreSQL, on the wire between its driver and the server.

A proxy that hands every byte on, and reads along: one round trip is one time that the driver sent something after the
server had answered all that came before. Counted by application name, so a heartbeat does not count as a worker's step.

    with Proxy(upstream=("127.0.0.1", 5432)) as proxy:
        ... connect to 127.0.0.1:proxy.port ...
        proxy.count("pawl worker").round_trips
"""

import contextlib
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

UNTYPED = {80877103, 80877104}  # requests for TLS and for GSS encryption, before the startup message
WRITES = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM)\b")
BLOCK = 65_536


@dataclass
class Count:
    """Of one application. `trips` has, for each round trip, the statements that it carried."""

    trips: list[list[str]] = field(default_factory=list)
    syncs: int = 0
    commits: int = 0  # transactions that wrote; a claim that answers 'contended' looks like one

    @property
    def round_trips(self) -> int:
        return len(self.trips)


@dataclass
class Session:
    """What is known of one connection: the statements it prepared, and where its transaction stands."""

    application: str = ""
    is_started: bool = False
    is_answered: bool = True
    wrote: bool = False  # something, in the transaction that is open
    names: dict[bytes, str] = field(default_factory=dict)
    asked: deque[bool] = field(default_factory=deque)  # of each statement without its answer: may it write?


Read = Callable[[Session, bytes, bytes], None]  # of one message: its kind and its body


class Proxy:
    def __init__(self, *, upstream: tuple[str, int]) -> None:
        self._upstream = upstream
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._counts: dict[str, Count] = {}
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._server, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def count(self, application: str) -> Count:
        """What was counted since the last call."""
        with self._lock:
            return self._counts.pop(application, Count())

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                server = socket.create_connection(self._upstream)
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._sockets.append(one)
                session = Session()
                for work in ((client, server, self._sent), (server, client, self._answered)):
                    threading.Thread(target=self._pass_on, args=(*work, session), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, read: Read, session: Session) -> None:
        stream = Stream(is_from_client=read == self._sent)
        with contextlib.suppress(OSError):
            while data := source.recv(BLOCK):
                with self._lock:
                    for kind, body in stream.messages(data, session):
                        read(session, kind, body)
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def _sent(self, session: Session, kind: bytes, body: bytes) -> None:
        if not session.is_started:
            if struct.unpack("!I", body[:4])[0] not in UNTYPED:
                words = body[4:].split(b"\0")
                session.application = (
                    dict(zip(words[::2], words[1::2], strict=False)).get(b"application_name", b"").decode()
                )
                session.is_started = True
            return
        if kind not in b"QPBDECSH":
            return  # a password, or the end
        count = self._counts.setdefault(session.application, Count())
        if session.is_answered:
            count.trips.append([])
            session.is_answered = False
        count.syncs += kind in b"SQ"
        if (statement := _statement(session, kind, body)) is not None:
            session.asked.append(bool(WRITES.search(statement)))
            count.trips[-1].append(statement)

    def _answered(self, session: Session, kind: bytes, body: bytes) -> None:
        if kind == b"C" and session.asked.popleft():
            # A statement that finds no row to write (an empty claim) answers `SELECT 0` and leaves nothing to commit.
            session.wrote = session.wrote or not body.endswith(b" 0\0")
        elif kind == b"C" and body.startswith(b"ROLLBACK"):
            session.wrote = False
        elif kind == b"Z":
            session.is_answered = True
            if body == b"E":
                session.asked.clear()
            if body == b"I":  # outside a transaction: what was open has been committed, or rolled back
                count = self._counts.get(session.application)
                if count is not None and session.wrote:
                    count.commits += 1
                session.wrote = False


@dataclass
class Stream:
    """One direction of a connection, cut into messages."""

    is_from_client: bool
    left: bytes = b""

    def messages(self, data: bytes, session: Session) -> Iterator[tuple[bytes, bytes]]:
        self.left += data
        while True:
            # The server's one-letter refusal of TLS comes before it has sent any message.
            if not self.is_from_client and not session.is_started:
                self.left = b""
                return
            typed = 0 if self.is_from_client and not session.is_started else 1
            if len(self.left) < typed + 4:
                return
            length = struct.unpack("!I", self.left[typed : typed + 4])[0]
            if len(self.left) < typed + length:
                return
            kind, body = self.left[:typed], self.left[typed + 4 : typed + length]
            self.left = self.left[typed + length :]
            yield kind, body


def _statement(session: Session, kind: bytes, body: bytes) -> str | None:
    """The statement that a message executes; None for one that executes nothing."""
    if kind == b"Q":
        return body.rstrip(b"\0").decode()
    if kind == b"P":
        name, text = body.split(b"\0")[:2]
        session.names[name] = text.decode()
    if kind == b"B":
        return session.names.get(body.split(b"\0")[1], "?")
    return None
