"""How acts are played: to their end, to their death at a point, or held at a point while another one is done."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg

from kit.errors import AppError
from runs.link import Link
from runs.store.read import Connection
from tests.interleavings.acts import Act
from tests.interleavings.scene import Scene
from tests.interleavings.stepwise import Died, Pause, Stepwise, dying_at
from tests.staging import wait_until

PROVE = bool(os.environ.get("PAWL_PROVE"))  # everything, however long it takes
MOST_POINTS = 4
BACKEND = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"


def points_of(act: Act, scene: Scene) -> int:
    """How many there are, one more for the moment after the act: its caller never hears of it."""
    act.before(scene)
    counting = Stepwise(scene.link.connection)
    act.do(scene, counting.as_connection())
    return counting.points + 1


def some_of(points: int) -> list[int]:
    """All of them, or so many, evenly spread, as `make test` has time for."""
    if PROVE or points <= MOST_POINTS:
        return list(range(1, points + 1))
    return [1 + round(place * (points - 1) / (MOST_POINTS - 1)) for place in range(MOST_POINTS)]


def dies(act: Act, scene: Scene, *, point: int) -> None:
    """In a process of its own, as it were: its connection is cut, and nothing of it lives on. An act that has fewer
    points by now (a version's graph is read once only) dies after its last one.
    """
    act.before(scene)
    link = Link(name="mortal")
    backend = link.connection.info.backend_pid
    mortal = dying_at(link.connection, point)
    try:
        act.do(scene, mortal.as_connection())
        mortal.point()
    except (Died, psycopg.Error):
        wait_until(lambda: scene.world.connection.execute(BACKEND, (backend,)).fetchone() is None)
        return
    finally:
        link.close()


def does(act: Act, scene: Scene) -> None:
    """A refusal is an answer as good as any."""
    try:
        act.do(scene, scene.link.connection)
    except AppError:
        scene.link.close()


@dataclass
class Player:
    """One act in a thread and on a connection of its own. What it raises besides a refusal is kept for `end`."""

    act: Act
    scene: Scene
    connection: Connection
    trouble: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.backend = self.connection.info.backend_pid
        self._thread = threading.Thread(target=self._play, daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def _play(self) -> None:
        try:
            self.act.do(self.scene, self.connection)
        except AppError:
            pass
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            self.trouble.append(error)

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def is_held_up(self) -> bool:
        """It waits for a lock that somebody else holds."""
        row = self.scene.world.connection.execute(BACKEND, (self.backend,)).fetchone()
        return row is not None and row[0] == "Lock"

    def end(self) -> None:
        self._thread.join(20)
        assert self.is_done, f"{self.act.name} never ended"
        for trouble in self.trouble:
            raise AssertionError(f"{self.act.name} was hit by {trouble!r}") from trouble


def meet(first: Act, second: Act, *, point: int, scene: Scene, connect: Callable[[str], Connection]) -> bool:
    """`first` pauses at its point, `second` is done (or waits for what the first holds), then the first goes on.

    False where the first has no such point by now: what it found to do has changed.
    """
    for act in (first, second):
        try:
            act.before(scene)
        except AppError:  # the one has made the scene unfit for the other's beginning: it meets that, then
            scene.link.close()
    pause = Pause(point)
    stepwise = Stepwise(connect("first"), pause)
    one = Player(first, scene, stepwise.as_connection())
    other = Player(second, scene, connect("second"))
    one.begin()
    wait_until(lambda: pause.is_reached or one.is_done)
    other.begin()
    wait_until(lambda: other.is_done or other.is_held_up())
    pause.go_on()
    one.end()
    other.end()
    return pause.is_reached
