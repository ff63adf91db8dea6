"""One guard, one interleaving: each test plays the order of events that its guard is there for.

Chaos found none of these in minutes; a patch of tests/mutants takes each guard away and its test here must fail.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from builder.graph.model import Policy, Retry
from kit.errors import AppError
from kit.ids import new_id
from runs.core.outcomes import Error, Failed, Succeeded
from runs.core.states import StepStatus
from runs.engine import sweep
from runs.engine.cancel import cancel_run
from runs.engine.checkpoint import FencedOut, keep_checkpoint
from runs.engine.resume import resume_run
from runs.engine.transact import begin
from runs.link import Link
from runs.store import fleet
from runs.store.read import NOT_AS_EXPECTED, lock_run
from runs.store.write import write
from tests.engine import World
from tests.hands import Hand
from tests.random_runs import FLAKY
from tests.staging import Meddled, activity, begun, failpoints, lose, successes, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))


# ---------------------------------------------------------------------- the fence


def test_a_zombies_result_is_refused_and_the_owners_stands(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    zombie, owner = hands
    old = zombie.take()
    lose(world, zombie)
    new = owner.take()
    assert (new.step_run_id, new.attempt) == (old.step_run_id, 2)
    assert zombie.finish(old, Succeeded("zombie")).result == "fenced_out"
    assert world.statuses(run_id)["A"] == "running"
    assert owner.finish(new, Succeeded("owner")).result == "committed"
    assert zombie.finish(old, Succeeded("zombie")).result == "fenced_out"
    assert world.output(run_id, "A") == "owner"
    assert successes(world, run_id, "A") == 1


def test_a_zombie_keeps_no_checkpoint(world: World, hands: list[Hand]) -> None:
    begun(world)
    zombie, owner = hands
    old = zombie.take()
    keep_checkpoint(zombie.connection, old, kind="once", key="k", value=1)
    lose(world, zombie)
    new = owner.take()
    with pytest.raises(FencedOut):
        keep_checkpoint(zombie.connection, old, kind="once", key="k", value=2)
    keep_checkpoint(owner.connection, new, kind="once", key="l", value=3)


def test_a_zombie_of_before_the_resume_is_refused(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    zombie, owner = hands
    old = zombie.take()
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))
    lose(world, zombie)
    assert world.run(run_id).status == "cancelled"
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    assert zombie.finish(old, Succeeded("zombie")).result == "fenced_out"
    assert owner.finish(owner.take(), Succeeded("owner")).result == "committed"
    assert world.output(run_id, "A") == "owner"


def test_a_worker_is_told_to_stop_what_is_no_longer_its_own(world: World, hands: list[Hand]) -> None:
    begun(world)
    zombie, owner = hands
    old = zombie.take()
    assert zombie.beat([(old.step_run_id, old.fence)]).stop == frozenset()
    lose(world, zombie)
    owner.take()
    heard = zombie.beat([(old.step_run_id, old.fence)])
    assert heard.stop == {(old.step_run_id, old.fence)}
    assert not heard.alive


# ---------------------------------------------------------------------- the dead


def test_a_buried_worker_claims_nothing(world: World, hands: list[Hand]) -> None:
    begun(world)
    dead, alive = hands
    assert fleet.bury(world.connection, dead.id)
    assert dead.claim().held is None
    assert alive.claim().held is not None


def test_a_worker_is_buried_once(world: World, hands: list[Hand]) -> None:
    assert fleet.bury(world.connection, hands[0].id)
    assert not fleet.bury(world.connection, hands[0].id)


def test_a_worker_that_heard_no_answer_registers_again_and_is_one_worker(world: World) -> None:
    """The statement was executed, and reported as failed."""
    identity = fleet.WorkerIdentity(new_id(), "nowhere", "boot", "namespace", 1, 1)
    again = False
    fleet.register(world.connection, identity, queues=["default"], threads=1)
    with suppress(psycopg.Error):
        fleet.register(world.connection, identity, queues=["default"], threads=1)
        again = True
    assert again, "the second time was refused"
    assert fleet.heartbeat(world.connection, worker=identity.id, held=[]).alive
    assert fleet.bury(world.connection, identity.id)
    fleet.register(world.connection, identity, queues=["default"], threads=1)
    assert not fleet.heartbeat(world.connection, worker=identity.id, held=[]).alive


def test_two_sweepers_recover_a_step_once(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    held = hands[0].take()
    fleet.bury(world.connection, hands[0].id)
    arguments = {"step_run_id": held.step_run_id, "fence": held.fence, "detail": "gone"}
    with Link(name="other").connection as other:
        assert sweep.recover(world.connection, run_id, **arguments)
        assert not sweep.recover(other, run_id, **arguments)
    assert world.steps(run_id)["A"].crash_count == 1


# ---------------------------------------------------------------------- what succeeded


def test_the_database_refuses_any_change_of_a_succeeded_row(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), Succeeded(1))
    refused = None
    try:
        world.connection.execute("UPDATE runs_steprun SET output = '2' WHERE run_id = %s AND path = 'A'", (run_id,))
    except psycopg.errors.RaiseException as error:
        refused = str(error)
    assert refused is not None
    assert "has succeeded" in refused
    assert world.output(run_id, "A") == 1


def test_a_resume_changes_nothing_that_succeeded(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hand = hands[0]
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), BROKEN)
    before = world.steps(run_id)["A"]
    refused = None
    try:
        with world.connection.transaction():
            resume_run(world.connection, world.command(run_id, "resume"))
    except (AppError, psycopg.Error) as error:
        refused = error
    assert refused is None, f"the resume touched what had succeeded: {refused}"
    after = world.steps(run_id)["A"]
    assert (after.status, after.attempt, after.finished_at) == ("succeeded", 1, before.finished_at)
    assert world.statuses(run_id)["B"] == "ready"


def test_a_row_that_is_not_as_the_core_read_it_stops_the_whole_transaction(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    refused = None
    try:
        with world.connection.transaction():
            tx = begin(world.connection, run_id, actor="test")
            row = tx.scope((None, None))["n_A"]
            hands[0].connection.execute("UPDATE runs_steprun SET status = 'retry_wait' WHERE id = %s", (row.id,))
            tx.move(row, StepStatus.CANCELLED)
            write(world.connection, tx)
    except psycopg.DatabaseError as error:
        refused = error.sqlstate
    assert refused == NOT_AS_EXPECTED
    assert world.statuses(run_id)["A"] == "retry_wait"
    world.connection.execute("UPDATE runs_steprun SET status = 'ready' WHERE id = %s", (row.id,))


# ---------------------------------------------------------------------- two at once


def test_two_finishes_of_siblings_come_one_after_the_other_and_decide_the_join_once(
    world: World, hands: list[Hand], tmp_path: Path
) -> None:
    run_id = begun(world, "S > A + B > J")
    first, second = hands
    wanted = [first.request(first.take(), Succeeded("a")), second.request(second.take(), Succeeded("b"))]
    go = tmp_path / "go"
    with failpoints(f"in_finish@1:pause={go}"), ThreadPoolExecutor(2) as pool:
        try:
            one = pool.submit(first.finish_all, [wanted[0]])
            wait_until(lambda: activity(world, first)[0] == "idle in transaction")
            other = pool.submit(second.finish_all, [wanted[1]])
            wait_until(lambda: other.done() or activity(world, second)[1] == "Lock")
            assert not other.done(), "the second finish did not wait for the first"
        finally:
            go.touch()
    assert [one.result().results[0].result, other.result().results[0].result] == ["committed", "committed"]
    assert world.events(run_id).count(("step.ready", "J")) == 1


def test_who_goes_on_with_what_it_knows_sees_what_others_finished_meanwhile(world: World, hands: list[Hand]) -> None:
    begun(world, "S > A + B + C > J")
    mine, other = hands
    a, b, c = mine.take(), other.take(), mine.take()
    known = mine.finish_all([mine.request(a, Succeeded(1))], others=1).known
    assert known is not None
    assert not known.is_alone
    other.finish(b, Succeeded(2))
    done = mine.finish_all([mine.request(c, Succeeded(3), wish=mine.wish())], known=known)
    assert done.results[0].next is not None
    assert done.results[0].next.path == "J"


def test_what_a_worker_knows_of_a_run_is_dropped_where_the_run_has_moved_on(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > C, S > B > D, C + D > J")
    mine, other = hands
    a, b = mine.take(), other.take()
    done = mine.finish_all([mine.request(a, Succeeded("a"), wish=mine.wish())], others=1)
    c = done.results[0].next
    assert (c and c.path, done.known is not None) == ("C", True)
    assert other.finish(b, Succeeded("b")).result == "committed"
    trouble = None
    try:
        mine.finish_all([mine.request(c, Succeeded("c"))], known=done.known)
    except psycopg.Error as error:
        trouble = error
    assert trouble is None, f"it went by what it knew: {trouble}"
    assert world.statuses(run_id) == {
        "S": "succeeded", "A": "succeeded", "B": "succeeded", "C": "succeeded", "D": "ready", "J": "pending",
    }  # fmt: skip


def test_what_a_worker_knows_is_enough_where_nobody_changed_the_run(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > B > C")
    hand = hands[0]
    held, known = hand.take(), None
    for key in "ABC":
        done = hand.finish_all([hand.request(held, Succeeded(key), wish=hand.wish())], known=known)
        held, known = done.results[0].next, done.known
        assert (known is not None) == (key != "C")
    assert world.run(run_id).status == "succeeded"


def test_a_claim_passes_over_a_run_that_is_locked_and_says_so(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    with world.connection.transaction():
        assert lock_run(world.connection, run_id) is not None
        assert hands[0].claim().result == "contended"
    assert hands[0].claim().result == "claimed"
    assert hands[0].claim().result == "empty"


# ---------------------------------------------------------------------- lost replies


def test_a_commit_whose_reply_was_lost_is_answered_with_the_step_that_came_with_it(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world)
    hand = hands[0]
    request = hand.request(hand.take(), Succeeded(1), wish=hand.wish())
    first = hand.finish_all([request]).results[0]
    assert first.next is not None
    before = world.run(run_id).event_seq
    trouble = again = None
    try:
        again = hand.finish_all([request]).results[0]
    except AppError as problem:
        trouble = problem
    assert trouble is None, f"it was decided a second time: {trouble}"
    assert again is not None
    assert (again.result, again.next) == ("already", first.next)
    assert world.run(run_id).event_seq == before


def test_a_claim_whose_reply_was_lost_is_answered_with_the_same_step(world: World, hands: list[Hand]) -> None:
    begun(world, "S > A + B")
    hand, claim_id = hands[0], new_id()
    lost = hand.claim(claim_id).held
    assert hand.claim(claim_id, again=True).held == lost


def test_a_claim_that_its_worker_never_heard_of_is_found_by_the_heartbeat(world: World, hands: list[Hand]) -> None:
    begun(world)
    held = hands[0].take()
    pair = (held.step_run_id, held.fence)
    assert hands[0].beat([]).unnamed == frozenset()
    world.connection.execute(
        "UPDATE runs_steprun SET started_at = started_at - interval '6 seconds' WHERE id = %s", (held.step_run_id,)
    )
    assert hands[0].beat([]).unnamed == {pair}
    assert hands[0].beat([pair]).unnamed == frozenset()


# ---------------------------------------------------------------------- time


def test_a_retry_that_another_sweeper_began_meanwhile_is_not_begun_early(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, policies={"A": Policy(retry=Retry(attempts=5, first_delay_s=600))})
    hand, rival = hands
    hand.finish(hand.take(), FLAKY)
    world.connection.execute("UPDATE runs_steprun SET not_before = now() WHERE status = 'retry_wait'")

    def meanwhile() -> None:
        assert sweep.due(rival.connection) == 1
        hand.finish(hand.take(), FLAKY)

    assert sweep.due(Meddled(world.connection, meanwhile)) == 0
    assert world.statuses(run_id)["A"] == "retry_wait"


def test_a_step_that_was_taken_over_meanwhile_is_not_recovered_from_its_new_owner(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world)
    dead, owner = hands
    old = dead.take()
    lose(world, dead)
    new = owner.take()
    assert not sweep.recover(world.connection, run_id, step_run_id=old.step_run_id, fence=old.fence, detail="late")
    assert owner.finish(new, Succeeded(1)).result == "committed"
