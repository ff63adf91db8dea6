"""Resume, retry, crash, cancel, time limits: what other engines leave running for ever, run twice, or never."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import pytest

from builder.graph.model import Policy, Retry
from kit.errors import AppError, Conflict
from runs.core.outcomes import Succeeded
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.models import Attempt, Wait
from tests.cases.scene import Scene
from tests.hands import Hand

pytestmark = pytest.mark.django_db(transaction=True)
ASK = {"title": "Go on?"}
PAUSE_S = 0.05


def test_a_run_whose_failure_is_handled_each_time_fails_no_more_after_a_resume(scene: Scene) -> None:
    """kestra-io/kestra#1032: failed, with a handler that ran, and restarted: it was marked succeeded though it failed
    again. Here what a handler caught is no failure; the step after it is, and a resume begins there."""
    policies = {"A": Policy(on_error="port")}
    run_id = scene.play("S > A, A !> H > X", policies=policies, configs={"A": {"fails": [1, 2]}})
    assert (scene.status(run_id), scene.statuses(run_id)["X"]) == ("failed", "failed")
    scene.resume(run_id)
    assert (scene.status(run_id), scene.statuses(run_id)["X"]) == ("failed", "failed")
    assert scene.ticks == {"A": 1, "H": 1}
    assert scene.events(run_id)[-1] == ("run.failed", None)


def test_a_resume_runs_at_once_and_waits_for_nobody(scene: Scene) -> None:
    """activepieces/activepieces PR 12365: a retry waited for the data of a pause that a failed run does not have."""
    run_id = scene.play("S > A > B", configs={"B": {"fails": [1]}})
    scene.resume(run_id, paths=["B"])
    assert scene.ticks == {"A": 1, "B": 2}
    assert scene.status(run_id) == "succeeded"


def test_a_resume_of_a_run_in_which_nothing_failed_is_refused_and_changes_nothing(scene: Scene) -> None:
    """apache/airflow#55045: 'restart' on a running run left its steps 'restarting' for ever."""
    run_id = scene.begin("S > A > B")
    with closing(Hand()) as hand:
        held = hand.claim(kinds=["test_tick"]).held
        assert (held and held.path, scene.statuses(run_id)["A"]) == ("A", "running")
        before = scene.events(run_id)
        with pytest.raises(Conflict):
            scene.resume(run_id)
        assert scene.events(run_id) == before
        assert held is not None
        assert hand.finish(held, Succeeded(1)).result == "committed", "its only attempt counts"
    scene.work()
    assert scene.ticks == {"B": 1}
    assert (scene.status(run_id), scene.steps(run_id)["A"].attempt) == ("succeeded", 1)


def test_a_body_that_ate_all_memory_is_tried_again_and_its_run_can_be_cancelled(scene: Scene) -> None:
    """activepieces/activepieces#14372, argoproj/argo-workflows#8456: it said 'running' for ever; cancel did nothing."""
    run_id = scene.play("S > A > B", kinds={"A": "test_kill_self"})
    assert scene.statuses(run_id)["A"] == "retry_wait"
    assert Attempt.objects.filter(run_id=run_id).values_list("outcome", flat=True)[0] == "lost"
    scene.cancel(run_id)
    assert (scene.status(run_id), scene.statuses(run_id)["A"]) == ("cancelled", "cancelled")
    with pytest.raises(Conflict):
        scene.cancel(run_id)


def test_five_clicks_on_approve_approve_one_question_once(scene: Scene) -> None:
    """activepieces/activepieces PR 3871: steps after it ran n times; the first link approved the second question."""
    run_id = scene.play("S > P1 ?approved> A > P2 ?approved> B", configs={"P1": ASK, "P2": ASK})
    first = Wait.objects.get(run_id=run_id, status="open")

    def approve(_: int) -> str:
        with closing(Link(name="clicker")) as link:
            try:
                with link.connection.transaction():
                    command = scene.command(run_id, "answer")
                    answer_wait(link.connection, command, Answer(first.id, "approved", "", None, None))
            except AppError as problem:
                return problem.code
        return "answered"

    with ThreadPoolExecutor(5) as pool:
        answers = sorted(pool.map(approve, range(5)))
    scene.work()
    assert answers == ["answered", *["wait_closed"] * 4]
    assert scene.ticks == {"A": 1}
    assert scene.statuses(run_id)["P2"] == "waiting"
    assert Wait.objects.get(run_id=run_id, status="open").id != first.id


@pytest.mark.parametrize(("failing", "calls", "port"), [(0, 1, "out"), (2, 3, "out"), (9, 6, "error")])
def test_a_call_is_repeated_until_it_works_and_no_more_and_then_leaves_by_the_error_port(
    scene: Scene, failing: int, calls: int, port: str
) -> None:
    """n8n-io/n8n#14423, #12096, #7098: calls that had worked were repeated, retries skipped, the first error given."""
    policy = Policy(retry=Retry(attempts=6, first_delay_s=PAUSE_S, max_delay_s=PAUSE_S, jitter=0), on_error="port")
    configs = {"A": {"fails": list(range(1, failing + 1)), "retryable": True, "value": "ok"}}
    run_id = scene.play("S > A > B, A !> C", policies={"A": policy}, configs=configs)
    while scene.statuses(run_id)["A"] == "retry_wait":
        time.sleep(0.02)
        scene.sweep()
        scene.work()
    assert scene.ticks == {"A": calls, "B" if port == "out" else "C": 1}
    step = scene.steps(run_id)["A"]
    attempts = list(Attempt.objects.filter(run_id=run_id, step_run_id=step.id).order_by("number"))
    assert len(attempts) == calls
    pauses = [(later.started_at - one.finished_at).total_seconds() for one, later in pairwise(attempts)]
    assert min(pauses, default=PAUSE_S) >= PAUSE_S
    if port == "out":
        assert scene.output(run_id, "A") == "ok", "of the call that worked"
    else:
        assert f"attempt {calls} " in (step.error or ""), "the last error is told, not the first"
    assert scene.status(run_id) == "succeeded"


def test_a_hundred_short_runs_leave_nothing_behind(scene: Scene) -> None:
    """Bogdanp/django_dramatiq#154, #105: 'enqueued' was written after 'done'. Here a wake-up carries no state."""
    version = scene.draw("S > A")
    runs = [scene.start(version).run_id for _ in range(100)]
    scene.work()
    assert {scene.status(run_id) for run_id in runs} == {"succeeded"}
    assert {status for run_id in runs for status in scene.statuses(run_id).values()} == {"succeeded"}
    assert all(scene.events(run_id)[-1] == ("run.succeeded", None) for run_id in runs), "nothing is told after the end"
    assert scene.broken() == []
