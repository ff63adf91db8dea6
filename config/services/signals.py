"""Ctrl-C, TERM and HUP as one exception of the main thread."""

import signal
from types import FrameType
from typing import NoReturn

_ASKS_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Not an Exception: no handler on the way may keep it."""


def stop_on_signals() -> None:
    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        raise StopRequested

    for number in _ASKS_TO_STOP:
        signal.signal(number, stop)


def ignore_signals() -> None:
    """While stopping: a second Ctrl-C must not leave half of it running."""
    for number in _ASKS_TO_STOP:
        signal.signal(number, signal.SIG_IGN)
