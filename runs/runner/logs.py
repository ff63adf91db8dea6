"""The log of one attempt: what its process and all below it print. Bounded, masked, in not too small pieces."""

import codecs
import fcntl
import os
from collections.abc import Callable

from builder.connections.masking import Masker

CHUNK_BYTES = 64 * 1024
FLUSH_CHARS = 32 * 1024
FLUSH_EVERY_S = 0.2
DRAIN_EVERY_S = 0.01  # once over the limit: at most 100 MB/s flow away, at little cost
DRAIN_BYTES = 1024 * 1024
LAST_DRAINS = 3
_F_SETPIPE_SZ = 1031  # Linux; Python has no name for it before 3.10 and mypy none at all

_decoder_of = codecs.getincrementaldecoder("utf-8")
_null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


class LogPipe:
    """Reads the pipe while an attempt runs. Past `limit_bytes` it only keeps the pipe empty: the body goes on."""

    def __init__(self, descriptor: int, *, limit_bytes: int, masker: Masker, on_log: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._limit = self._left = limit_bytes
        self._masked = masker.stream()
        self._on_log = on_log
        self._decoder = _decoder_of("replace")
        self._pending = ""
        self._flushed_at = 0.0
        self.is_full = False

    def read(self, now: float) -> bool:
        """Takes one chunk of what is there; whether there was something."""
        if self.is_full:
            return self._drain() > 0
        has_said = self._read_chunk()
        self.tick(now)
        return has_said

    def tick(self, now: float) -> None:
        """Hands on what waits, where it is much or has waited long enough."""
        if self._pending and (len(self._pending) >= FLUSH_CHARS or now - self._flushed_at >= FLUSH_EVERY_S):
            self._flushed_at = now
            self._hand_on(self._masked.feed(self._take_pending()))

    def finish(self) -> None:
        """Takes what was printed before the attempt's end, and hands on everything."""
        while not self.is_full and self._read_chunk():
            pass
        if self.is_full:
            for _ in range(LAST_DRAINS):  # a pipe holds no more; a process left behind may print for ever
                self._drain()
        if self._limit != self._left:
            rest = self._take_pending() + self._decoder.decode(b"", final=True)
            self._hand_on(self._masked.feed(rest) + self._masked.end())
        if self.is_full:
            self._on_log(f"\n[The log was cut here: it had reached its limit of {self._limit:,} bytes.]\n")

    def _read_chunk(self) -> bool:
        """Whether there was something."""
        try:
            data = os.read(self._descriptor, min(CHUNK_BYTES, self._left + 1))
        except BlockingIOError:
            return False
        if len(data) > self._left:
            data = data[: self._left]
            self.is_full = True
            fcntl.fcntl(self._descriptor, _F_SETPIPE_SZ, DRAIN_BYTES)
        self._left -= len(data)
        self._pending += self._decoder.decode(data)
        return bool(data)

    def _drain(self) -> int:
        try:
            return os.splice(self._descriptor, _null, DRAIN_BYTES)
        except BlockingIOError:
            return 0

    def _take_pending(self) -> str:
        taken, self._pending = self._pending, ""
        return taken

    def _hand_on(self, text: str) -> None:
        if text:  # PostgreSQL's text cannot hold NUL, its picture it can
            self._on_log(text.replace("\0", "\N{SYMBOL FOR NULL}"))
