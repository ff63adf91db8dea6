"""A TCP proxy between Pawl's processes and PostgreSQL or Redis, which loses, holds back or cuts what passes.

with Proxy(port_of_the_server) as proxy:
    proxy.drop_reply(b"COMMIT")     # the next request that holds it is delivered; its reply is lost, and the connection
    proxy.cut()                     # ends every connection; new ones are refused until `proxy.mend()`
    proxy.stall()                   # keeps connections open and forwards nothing until `proxy.mend()`
"""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

LOOPBACK = "127.0.0.1"
BITE = 65_536
REPLY_S = 0.5  # how long the server's answer to a lost request may take


@dataclass
class Loss:
    pattern: bytes
    left: int
    done: int = 0


@dataclass
class Proxy:
    target: int
    host: str = LOOPBACK  # where it listens
    losses: list[Loss] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server((self.host, 0), backlog=100)
        self.port: int = self._listener.getsockname()[1]
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._flowing = threading.Event()
        self._flowing.set()
        self._is_cut = False
        threading.Thread(target=self._accept_for_ever, name="proxy", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.close()
        self.cut()
        self._flowing.set()

    # ------------------------------------------------------------------ what can go wrong
    def drop_reply(self, pattern: bytes, *, times: int = 1) -> Loss:
        loss = Loss(pattern, times)
        self.losses.append(loss)
        return loss

    def cut(self) -> None:
        self._is_cut = True
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            _end(*pair)

    def stall(self) -> None:
        self._flowing.clear()

    def mend(self) -> None:
        self._is_cut = False
        self._flowing.set()

    # ------------------------------------------------------------------ what passes
    def _accept_for_ever(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed: the proxy's end
                return
            try:
                server = socket.create_connection((LOOPBACK, self.target), timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            if self._is_cut:
                _end(client, server)
                continue
            with self._lock:
                self._pairs.add((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, sink, (client, server)), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        client, server = pair
        with contextlib.suppress(OSError):
            while data := source.recv(BITE):
                self._flowing.wait()
                if source is client and self._is_lost(data):
                    client.shutdown(socket.SHUT_RDWR)  # before the server can answer
                    server.sendall(data)
                    time.sleep(REPLY_S)
                    break
                sink.sendall(data)
        with self._lock:
            self._pairs.discard(pair)
        _end(client, server)

    def _is_lost(self, data: bytes) -> bool:
        with self._lock:
            for loss in self.losses:
                if loss.left and loss.pattern in data:
                    loss.left -= 1
                    loss.done += 1
                    return True
        return False


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
