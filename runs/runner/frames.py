"""Frames between a worker's thread and its child: a fixed head, then one JSON text.

head: letter of the type, length of the text, (step run, fence) that it belongs to. A frame of another attempt, of an
unknown type or of an absurd length is a breach of the protocol, after which the child is not used again.
"""

import socket
import struct
from enum import Enum
from typing import NamedTuple

HEAD = struct.Struct("!BIqq")
# What one read takes at most. Python allocates that much before each read: from 128 KB on malloc asks the kernel for
# it, which made a round trip 20 microseconds longer. Only the rest of a large frame is read in large pieces.
CHUNK_BYTES = 16 * 1024
LARGE_CHUNK_BYTES = 1024 * 1024


class FrameType(int, Enum):
    JOB = ord("J")  # to the child: one attempt
    ACK = ord("A")  # to the child: the checkpoint is stored
    INPUT = ord("I")  # from the child: its config, resolved
    CHECKPOINT = ord("C")  # from the child: waits for ACK
    ASK = ord("Q")  # from the child, after INPUT: is there a result to reuse? waits for ACK
    CURSOR = ord("U")  # from the child: nobody answers
    PROGRESS = ord("P")  # from the child: nobody answers
    OUTCOME = ord("O")  # from the child: the attempt is over


_TYPES = {int(each): each for each in FrameType}


class ProtocolError(Exception):
    """The other side wrote what it may not write."""


class Frame(NamedTuple):
    type: FrameType
    step_run_id: int
    fence: int
    text: str


def pack(type_: FrameType, text: str, *, step_run_id: int, fence: int) -> bytes:
    """One frame. `text` is ASCII (see values.encode)."""
    return HEAD.pack(type_, len(text), step_run_id, fence) + text.encode("ascii")


class FrameReader:
    """Cuts the bytes of a stream socket into frames. Holds at most one frame of `limit_bytes` and one chunk."""

    def __init__(self, sock: socket.socket, *, limit_bytes: int) -> None:
        self._recv = sock.recv
        self._buffer = b""
        self._parts: list[bytes] = []  # of a frame larger than a chunk: joined once, not at every read
        self._missing = 0
        self.limit_bytes = limit_bytes
        self.closed = False

    def read(self) -> Frame | None:
        """A frame after one read (none if one is left over); None where no frame is whole yet, or `closed`."""
        frame = self._cut() if self._buffer else None
        if frame is not None:
            return frame
        data = self._recv(CHUNK_BYTES if self._missing <= CHUNK_BYTES else min(self._missing, LARGE_CHUNK_BYTES))
        if not data:
            self.closed = True
            return None
        self._take(data)
        return self._cut()

    def next(self) -> Frame | None:
        """A frame that an earlier read brought along; reads nothing."""
        return self._cut() if self._buffer else None

    def _take(self, data: bytes) -> None:
        if self._missing <= 0:
            self._buffer = self._buffer + data if self._buffer else data
            return
        self._parts.append(data)
        self._missing -= len(data)
        if self._missing <= 0:
            self._buffer = b"".join(self._parts)
            self._parts.clear()

    def _cut(self) -> Frame | None:
        buffer = self._buffer
        if self._missing > 0 or len(buffer) < HEAD.size:
            return None
        letter, length, step_run_id, fence = HEAD.unpack_from(buffer)
        if letter not in _TYPES or length > self.limit_bytes:
            raise ProtocolError(f"a frame of type {letter} and {length} bytes")
        end = HEAD.size + length
        if len(buffer) < end:
            self._missing = end - len(buffer)
            self._parts.append(buffer)
            self._buffer = b""
            return None
        self._buffer = buffer[end:]
        try:
            text = str(buffer[HEAD.size : end], "ascii")
        except UnicodeDecodeError as problem:
            raise ProtocolError("a frame that is not ASCII") from problem
        return Frame(_TYPES[letter], step_run_id, fence, text)
