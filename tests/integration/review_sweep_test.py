"""What a hostile reader found in the sweeper."""

import contextlib
import threading
from typing import Any
from uuid import UUID

import pytest

from kit.ids import new_id
from runs.engine import children
from runs.engine import sweep as engine
from runs.engine.sweep import sweep
from runs.link import Link
from runs.management.commands import sweeper as command
from runs.models import Worker
from runs.triggers import schedule
from runs.triggers import sweep as triggers
from tests.engine import World
from tests.staging import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def waiting_run(world: World) -> UUID:
    """A run whose timer is already due."""
    started = world.start(world.draw("S > D > O", configs={"D": {"seconds": 0}}))
    world.work()
    assert world.statuses(started.run_id)["D"] == "waiting"
    return started.run_id


def test_a_run_that_cannot_be_acted_on_does_not_keep_the_others_waiting(monkeypatch: Any) -> None:
    with World() as world:
        bad, good = waiting_run(world), waiting_run(world)
        bad_version = world.run(bad).version_id
        real = engine.definition_of

        def unreadable(connection: Any, version_id: UUID) -> Any:
            if version_id == bad_version:
                raise KeyError("a kind that this sweeper does not know")
            return real(connection, version_id)

        monkeypatch.setattr(engine, "definition_of", unreadable)
        with contextlib.suppress(KeyError):
            world.sweep()
        assert world.statuses(good)["D"] == "succeeded"


def test_a_sweeper_that_was_suspended_with_its_workers_declares_none_of_them_dead() -> None:
    """A laptop that slept: nobody was heard, the sweeper itself included."""
    with World() as world:
        me, connection = new_id(), world.connection
        sweep(connection, sweeper=me, host="test", is_gone=lambda identity: None)
        id_ = world.process.id
        connection.execute(
            "UPDATE runs_sweeper SET started_at = started_at - interval '1 hour', seen_at = seen_at - interval '30 s'"
        )
        connection.execute("UPDATE runs_worker SET heartbeat_at = heartbeat_at - interval '30 s'")
        assert sweep(connection, sweeper=me, host="test", is_gone=lambda identity: None).buried == 0
        assert Worker.objects.get(id=id_).dead_at is None


def test_a_long_reader_of_the_event_log_does_not_stop_the_sweeper(monkeypatch: Any) -> None:
    """A backup reads the log for an hour while a partition for a coming day is due."""
    with World() as world:
        run = waiting_run(world)
        reader = Link(name="backup")
        reader.connection.execute("BEGIN")
        reader.connection.execute("SELECT count(*) FROM runs_event")
        loop = command.SweeperLoop(threading.Event())
        monkeypatch.setattr(command, "PARTITIONS_AHEAD", 40)
        try:
            loop._once(loop.link.connection, again=False)
        finally:
            reader.connection.execute("ROLLBACK")
            reader.close()
            loop.link.close()
        assert world.statuses(run)["D"] == "succeeded"


def test_no_timer_waits_for_a_trigger_whose_input_takes_long_to_check(monkeypatch: Any) -> None:
    ending, begun, over = threading.Event(), threading.Event(), threading.Event()

    def check_long(connection: Any) -> int:
        begun.set()
        return int(over.wait(20))

    monkeypatch.setattr(triggers, "LOOK", "SELECT true")
    monkeypatch.setattr(triggers, "fire_schedules", check_long)
    with World() as world:
        sweeper = threading.Thread(target=command.SweeperLoop(ending).run)
        sweeper.start()
        try:
            assert begun.wait(10)
            run = waiting_run(world)
            wait_until(lambda: world.statuses(run)["D"] == "succeeded")
        finally:
            over.set()
            ending.set()
            sweeper.join(timeout=20)


def test_deliveries_that_take_long_leave_the_rest_for_the_next_sweep(monkeypatch: Any) -> None:
    monkeypatch.setattr(children, "BUDGET_S", 0.05)
    monkeypatch.setattr(children, "deliver_next", lambda connection, turns: over.wait(0.03) is False)
    over = threading.Event()
    with World() as world:
        assert children.deliver(world.connection) < 5


def test_a_schedule_that_takes_long_leaves_its_queue_for_the_next_sweep(monkeypatch: Any) -> None:
    monkeypatch.setattr(schedule, "BUDGET_S", 0.0)
    monkeypatch.setattr(
        schedule, "take_turn", lambda connection, trigger_id, look: schedule.Turned(more=turns.append(1) is None)
    )
    turns: list[int] = []
    with World() as world:
        schedule.work_off(world.connection, new_id())
        assert len(turns) == 1
