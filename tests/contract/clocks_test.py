"""Promise P5: no transition depends on a wall clock of a process or on the delays of a broker."""

import ast

import pytest

from tests.contract import sources
from tests.contract.exceptions import check

WALL_CLOCKS = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
               "timezone.now"}  # fmt: skip
OF_THE_BROKER = {"delay", "send", "send_with_options", "apply_async"}  # of an actor: what is sent carries no work


def test_the_engine_asks_no_wall_clock_of_its_own_process() -> None:
    found = {
        sources.place(name, call): f"{_asked(call)}(): ask the database, or kit.clock for a duration"
        for name in _engine()
        for call in sources.calls(name)
        if _asked(call) in WALL_CLOCKS
    }
    check("wall clocks", found)


def test_nothing_is_left_to_the_broker() -> None:
    found = {}
    for name in _engine():
        for call in sources.calls(name):
            if _asked(call).partition(".")[0] in ("advance", "actors") and sources.called(call) in OF_THE_BROKER:
                found[sources.place(name, call)] = "a wake-up is sent by runs.dispatch.wake alone"
            if any(keyword.arg == "delay" for keyword in call.keywords):
                found[sources.place(name, call)] = "delay=: messages that wait are lost with Redis"
    check("broker", found)


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("time.time()", "time.time"),
        ("datetime.now(UTC)", "datetime.now"),
        ("datetime.datetime.now()", "datetime.now"),
        ("timezone.now()", "timezone.now"),
        ("monotonic_s()", "monotonic_s"),
    ],
)
def test_the_lint_on_clocks_sees_what_it_should(line: str, asked: str) -> None:
    [call] = [node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call)]
    assert _asked(call) == asked


def _engine() -> list[str]:
    return [name for name in sources.python_files(tests=False) if name.startswith("runs/")]


def _asked(call: ast.Call) -> str:
    return ".".join(ast.unparse(call.func).split(".")[-2:])
