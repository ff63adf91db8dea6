"""After a failover nothing counts that a worker of before it remembers (fault 34; the failover itself is a drill)."""

from typing import Any

import pytest
from django.core.management import call_command

from kit.ids import new_id
from runs.core.outcomes import Succeeded
from runs.desk import Desk
from runs.engine.finish import Done, Finished
from runs.models import ClusterEpoch, Worker
from tests.engine import World
from tests.hands import Hand
from tests.staging import begun

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_worker_of_before_is_invalid_and_its_steps_go_to_others(
    world: World, hands: list[Hand], capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = begun(world)
    held = hands[0].take()
    call_command("raise_cluster_epoch", "--note", "db2 took over")
    assert "2 workers of before are invalid" in capsys.readouterr().out
    epoch = ClusterEpoch.objects.get()
    assert (epoch.type, epoch.workers, epoch.note) == ("cluster.failover", 2, "db2 took over")
    assert not hands[0].beat([(held.step_run_id, held.fence)]).alive
    assert hands[1].claim().held is None
    world.sweep()
    assert hands[0].finish(held, Succeeded("of before")).result == "fenced_out"
    world.work()
    assert world.run(run_id).status == "succeeded"
    call_command("raise_cluster_epoch", "--list")
    assert "cluster.failover" in capsys.readouterr().out


def test_a_result_under_a_fence_that_somebody_else_was_given_after_a_failover_is_refused(
    world: World, hands: list[Hand]
) -> None:
    """The claim of the first is among the commits that were lost; the second one's has the same number."""
    run_id = begun(world)
    held = hands[0].take()
    world.connection.execute(
        "UPDATE runs_steprun SET worker = %s, claim = %s WHERE id = %s", (hands[1].id, new_id(), held.step_run_id)
    )
    assert hands[0].finish(held, Succeeded("of before")).result != "committed"
    assert world.statuses(run_id)["A"] == "running"


def test_steps_of_a_worker_whose_registration_was_lost_are_recovered(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    held = hands[0].take()
    Worker.objects.filter(id=hands[0].id).delete()
    assert not hands[0].beat([(held.step_run_id, held.fence)]).alive
    assert world.sweep().recovered == 1
    assert world.statuses(run_id)["A"] == "ready"


def test_what_a_process_knows_of_a_run_is_dropped_where_its_connection_is_a_new_one(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server that it reaches now may never have heard of what the process knows."""
    begun(world)
    seen: list[Any] = []
    known = object()

    def finish(connection: Any, requests: Any, **options: Any) -> Done:
        seen.append(options["known"])
        return Done([Finished("committed")], [], known)  # type: ignore[arg-type]

    monkeypatch.setattr("runs.desk.finish", finish)
    request = hands[0].request(hands[0].take(), Succeeded(1))
    desk = Desk()
    for _ in range(2):
        desk.finish(hands[0].link, request)
    hands[0].link.close()
    desk.finish(hands[0].link, request)
    assert seen == [None, known, None]
