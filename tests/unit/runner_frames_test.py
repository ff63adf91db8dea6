"""Frames come out as they went in, however the bytes are cut."""

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.runner.frames import HEAD, Frame, FrameReader, FrameType, ProtocolError, pack

frames = st.builds(
    Frame,
    st.sampled_from(FrameType),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**63 - 1),
    st.text(st.characters(codec="ascii"), max_size=50),
)


class Pieces:
    """A socket whose reads give the pieces that the test chose."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def recv(self, most: int) -> bytes:
        return next(self._pieces, b"")


def _read_all(reader: FrameReader) -> list[Frame]:
    found = []
    while not reader.closed:
        frame = reader.read()
        while frame is not None:
            found.append(frame)
            frame = reader.next()
    return found


@given(st.lists(frames, max_size=5), st.integers(1, 60))
def test_frames_survive_any_cutting(sent: list[Frame], size: int) -> None:
    data = b"".join(pack(each.type, each.text, step_run_id=each.step_run_id, fence=each.fence) for each in sent)
    pieces = Pieces(data[at : at + size] for at in range(0, len(data), size))
    assert _read_all(FrameReader(pieces, limit_bytes=100)) == sent  # type: ignore[arg-type]


def test_a_large_frame_arrives_through_a_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10**7)
        theirs.sendall(pack(FrameType.OUTCOME, "x" * 3_000_000, step_run_id=1, fence=2))
        theirs.close()
        (frame,) = _read_all(FrameReader(ours, limit_bytes=3_000_000))
    assert len(frame.text) == 3_000_000


@pytest.mark.parametrize("head", [HEAD.pack(ord("O"), 101, 1, 1), HEAD.pack(ord("x"), 1, 1, 1)], ids=["long", "type"])
def test_an_absurd_head_is_a_breach(head: bytes) -> None:
    with pytest.raises(ProtocolError):
        FrameReader(Pieces(iter([head])), limit_bytes=100).read()  # type: ignore[arg-type]


def test_other_than_ascii_is_no_text_of_ours() -> None:
    head = HEAD.pack(ord("O"), 1, 1, 1)
    with pytest.raises(ProtocolError, match="ASCII"):
        FrameReader(Pieces(iter([head + b"\xff"])), limit_bytes=100).read()  # type: ignore[arg-type]
