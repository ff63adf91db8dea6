"""The log pipe: bounded, masked, in pieces."""

import os
from collections.abc import Iterator

import pytest

from builder.connections.masking import Masker
from runs.runner.logs import FLUSH_EVERY_S, LogPipe


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    yield read, write
    os.close(read)
    os.close(write)


def _log(read: int, heard: list[str], *, limit_bytes: int = 1000, secrets: tuple[str, ...] = ()) -> LogPipe:
    return LogPipe(read, limit_bytes=limit_bytes, masker=Masker(secrets), on_log=heard.append)


def test_nothing_printed_is_nothing_told(pipe: tuple[int, int]) -> None:
    heard: list[str] = []
    _log(pipe[0], heard).finish()
    assert heard == []


def test_what_waits_is_told_when_its_time_has_come_although_nothing_new_comes(pipe: tuple[int, int]) -> None:
    heard: list[str] = []
    log = _log(pipe[0], heard)
    os.write(pipe[1], b"one\n")
    log.read(100.0)
    os.write(pipe[1], b"two\n")
    log.read(100.0 + FLUSH_EVERY_S / 2)
    assert heard == ["one\n"]
    log.tick(100.0 + FLUSH_EVERY_S)
    assert heard == ["one\n", "two\n"]


def test_a_character_and_a_secret_cut_in_two_are_whole_again(pipe: tuple[int, int]) -> None:
    heard: list[str] = []
    log = _log(pipe[0], heard, secrets=("p\u00e4ssword",))
    data = "say p\u00e4ssword \U0001f600!".encode()
    for at, byte in enumerate(data):
        os.write(pipe[1], bytes([byte]))
        log.read(float(at))
    log.finish()
    assert "".join(heard) == "say •••• \U0001f600!"


@pytest.mark.parametrize("size", [9, 10, 11, 5000])
def test_the_limit_counts_bytes_and_is_told_only_when_something_is_lost(pipe: tuple[int, int], size: int) -> None:
    heard: list[str] = []
    log = _log(pipe[0], heard, limit_bytes=10)
    os.write(pipe[1], b"x" * size)
    log.read(1.0)
    log.finish()
    text = "".join(heard)
    assert text.count("x") == min(size, 10)
    assert ("limit of 10 bytes" in text) == (size > 10)
    assert not _is_readable(pipe[0])


def test_a_full_log_goes_on_swallowing(pipe: tuple[int, int]) -> None:
    heard: list[str] = []
    log = _log(pipe[0], heard, limit_bytes=10)
    for _ in range(100):
        os.write(pipe[1], b"x" * 50_000)
        log.read(1.0)
        log.read(1.0)
    assert log.is_full
    log.finish()
    assert len("".join(heard)) < 100


def test_bytes_that_are_no_text_and_nul_become_signs(pipe: tuple[int, int]) -> None:
    heard: list[str] = []
    log = _log(pipe[0], heard)
    os.write(pipe[1], b"a\xff\0b\xc3")
    log.finish()
    assert "".join(heard) == "a\ufffd\N{SYMBOL FOR NULL}b\ufffd"


def _is_readable(descriptor: int) -> bool:
    try:
        return bool(os.read(descriptor, 1))
    except BlockingIOError:
        return False
