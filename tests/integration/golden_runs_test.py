"""Real runs against frontend/src/testing/golden: what the browser makes of the events is what the server answers.

The files hold what the engine gave; `PAWL_WRITE_GOLDEN=1` writes them anew. vitest feeds them to the screen's reducer.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from builder.graph.model import Policy
from runs import wire
from runs.core.breakpoints import Breakpoints
from runs.engine.cancel import cancel_run
from runs.engine.control import unpause_run
from runs.engine.resume import resume_run
from runs.models import Run
from runs.selectors import runs as selectors
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)

GOLDEN = Path(__file__).resolve().parents[2] / "frontend" / "src" / "testing" / "golden"
WRITES = os.environ.get("PAWL_WRITE_GOLDEN") == "1"
EVENTS_A_MESSAGE = 5

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,64}")


@dataclass
class Plain:
    """Puts the first id seen in the place of the first id, and so on; each later time is a second later."""

    ids: dict[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)

    def learn_times(self, value: Any) -> None:
        found = sorted({match.group().replace("+00:00", "Z") for match in _TIME.finditer(json.dumps(value))})
        for at, time in enumerate(found):
            self.times[time] = f"2026-01-31T12:{at // 60:02}:{at % 60:02}.000000Z"

    def of(self, value: Any, name: str = "") -> Any:
        match value:
            case dict():
                return {key: self.of(one, key) for key, one in value.items()}
            case list():
                return [self.of(one, name) for one in value]
            case int() | float() if name == "duration_ms":
                return 1000
            case int() if name == "number":  # how many runs came before in this database
                return 7
            case str() if name == "worker":
                return "worker"
            case str():
                return _ID.sub(self._id, _TIME.sub(self._time, value))
        return value

    def _time(self, match: re.Match[str]) -> str:
        return self.times[match.group().replace("+00:00", "Z")]

    def _id(self, match: re.Match[str]) -> str:
        return self.ids.setdefault(match.group(), f"id-{len(self.ids) + 1}")


def snapshot_of(run_id: UUID) -> Any:
    answer = selectors.snapshot(Run.objects.get(id=run_id))
    return json.loads(json.dumps(answer, cls=DjangoJSONEncoder))


def messages_of(run_id: UUID, *, after: int) -> list[Any]:
    """The events as a websocket brings them, the last of each message once more at the head of the next."""
    run = Run.objects.get(id=run_id)
    items = json.loads(json.dumps(selectors.events_after(run, after)["items"], cls=DjangoJSONEncoder))
    parts = [items[max(at - 1, 0) : at + EVENTS_A_MESSAGE] for at in range(0, len(items), EVENTS_A_MESSAGE)]
    return [wire.events(run_id, part) for part in parts]


Play = Callable[[World], Iterator[UUID]]
PLAYS: dict[str, tuple[str, Play]] = {}


def case(name: str) -> Callable[[Play], Play]:
    """A play starts a run, yields its id where the browser looks first, and goes on to the end of the case."""

    def keep(play: Play) -> Play:
        PLAYS[play.__name__.replace("_", "-")] = (name, play)
        return play

    return keep


@case("a chain that is looked at before its first step runs to its end")
def real_chain(world: World) -> Iterator[UUID]:
    run_id = world.start(world.draw("S > A > B > O"), {"x": 1}).run_id
    yield run_id
    world.work()


@case("one branch of two is taken: what is behind the other is skipped, and where they meet the flow goes on")
def real_branch(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > I, I ?true> A > M, I ?false> B > M, M > O",
        configs={"I": {"condition": "{{ run.input.x > 0 }}"}},
    )
    run_id = world.start(version, {"x": 1}).run_id
    yield run_id
    world.work()


@case("a map opens its items; one of them fails, the map and the run fail, and what follows is skipped")
def real_map_fails(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > E[A] > B > O",
        configs={"E": {"items": "{{ run.input.items }}", "window": 2}, "A": {"value": "{{ 6 // item }}"}},
    )
    run_id = world.start(version, {"items": [1, 2, 0, 3]}).run_id
    yield run_id
    world.work()


@case("a map that stops at its first failure: what was never opened stays so")
def real_map_stops(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > E[A] > O",
        configs={
            "E": {"items": "{{ run.input.items }}", "window": 1, "on_item_failure": "fail_fast"},
            "A": {"value": "{{ 6 // item }}"},
        },
    )
    run_id = world.start(version, {"items": [1, 0, 2, 3]}).run_id
    yield run_id
    world.work()


@case("a loop ends after three of at most nine rounds; a try after it catches a failure and leaves by its own port")
def real_loop_and_try(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > L[A] > T[X] ?failed> H > O",
        kinds={"L": "loop", "T": "try_block"},
        configs={
            "L": {"most": 9, "first": 1, "until": "{{ previous >= run.input.to }}"},
            "A": {"value": "{{ previous * 2 }}"},
            "X": {"message": "No."},
        },
    )
    run_id = world.start(version, {"to": 8}).run_id
    yield run_id
    world.work()


@case("a failed run is resumed, and fails again: the failed step has a second attempt, the finished one is not touched")
def real_resume(world: World) -> Iterator[UUID]:
    version = world.draw("S > A > X > B > O", configs={"X": {"message": "No."}})
    run_id = world.start(version, {"x": 1}).run_id
    world.work()
    yield run_id
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume", generation=1))
    world.work()


@case("a run is cancelled while it waits for a timer, and resumed")
def real_cancel(world: World) -> Iterator[UUID]:
    version = world.draw("S > D > O", configs={"D": {"seconds": 86_400}})
    run_id = world.start(version).run_id
    yield run_id
    world.work()
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    world.work()


@case("a step's failure is handled by an edge from its error port, and the run succeeds")
def real_handled(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > X > A > M, X !> B > M, M > O",
        configs={"X": {"message": "No."}},
        policies={"X": Policy(on_error="port")},
    )
    run_id = world.start(version).run_id
    yield run_id
    world.work()


@case("breakpoints stop the run before a step and before each item, and it is set going again")
def real_breakpoints(world: World) -> Iterator[UUID]:
    version = world.draw(
        "S > A > E[B] > O", configs={"E": {"items": "{{ run.input.items }}", "window": 2}, "B": {"value": "{{ item }}"}}
    )
    points = Breakpoints(nodes=frozenset({"n_B"}), paths=frozenset({"A"}))
    run_id = world.start(version, {"items": [1, 2, 3]}, breakpoints=points).run_id
    yield run_id
    for _ in range(2):
        with world.connection.transaction():
            unpause_run(world.connection, world.command(run_id, "unpause"))
        world.work()


@pytest.mark.parametrize("file", PLAYS)
def test_a_real_run_gives_what_its_golden_case_says(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.worker.TURN_S", 60.0)  # on a slow machine a run's turn would end at some step or other
    name, play = PLAYS[file]
    with World() as world:
        steps = play(world)
        run_id = next(steps)
        before = snapshot_of(run_id)
        assert next(steps, None) is None
        assert world.broken() == []
        played = {
            "snapshot": before,
            "messages": messages_of(run_id, after=before["seq"]),
            "expected": snapshot_of(run_id),
        }
    plain = Plain()
    plain.learn_times(played)
    found = {"name": name, **plain.of(played)}
    path = GOLDEN / f"{file}.json"
    if WRITES:
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8")), "PAWL_WRITE_GOLDEN=1 writes the case anew"
