"""What housekeeping takes away, and what it must leave: payloads, runs whose time is over, days, old processes."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from uuid import UUID

import psycopg
import pytest
from django.utils.timezone import now

from runs.core.outcomes import Succeeded
from runs.engine.finish import Request, finish, keep_values
from runs.engine.retention import Housekeeping, forgetting
from runs.link import Link
from runs.models import Checkpoint, Event, Payload, Retention, Run, StepRun
from runs.payloads import PAYLOAD_GONE
from runs.store import retention as store
from tests.engine import World
from tests.hands import Hand
from tests.staging import activity, age, begun, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = "x" * 20_000


@pytest.fixture(autouse=True)
def payloads_of_this_test_only(transactional_db: None) -> None:
    Payload.objects.all().delete()


def done(world: World, *, days: int = 0, run_input: object = None) -> UUID:
    """A run that has succeeded, so many days ago."""
    run_id = world.start(world.draw("S > A > O", configs={"A": {"value": "{{ run.input }}"}}), run_input).run_id
    world.work()
    assert world.run(run_id).status == "succeeded"
    if days:
        age(world, run_id, days=days)
    return run_id


def sweep_payloads(world: World) -> int:
    """As if every payload had been uploaded long ago."""
    return Housekeeping(grace_s=-1)._payloads(world.connection)


def partitions(world: World, day: date) -> int:
    found = world.connection.execute(
        "SELECT count(*) FROM pg_class WHERE relname LIKE %s", (f"runs\\_%\\_{day:%Y%m%d}",)
    )
    return (found.fetchone() or (0,))[0]


# ---------------------------------------------------------------------- payloads


def test_a_payload_that_nothing_refers_to_is_swept_and_others_stay(world: World, hands: list[Hand]) -> None:
    done(world, run_input=LARGE)
    begun(world)
    keep_values(world.connection, Succeeded(["nobody's", LARGE]))  # its worker died before the finish
    before = Payload.objects.count()
    assert sweep_payloads(world) == 1
    assert sweep_payloads(world) == 0
    assert Payload.objects.count() == before - 1


def test_what_was_uploaded_just_now_has_its_time(world: World) -> None:
    keep_values(world.connection, Succeeded(LARGE))
    assert Housekeeping()._payloads(world.connection) == 0


def test_a_payload_that_was_swept_between_upload_and_finish_stops_the_finish_and_is_uploaded_again(
    world: World, hands: list[Hand]
) -> None:
    """Upload, sweep, finish: hours may lie between, where the database was away. Then the same with a second upload."""
    run_id = begun(world)
    held = hands[0].take()
    request = Request(held, keep_values(world.connection, Succeeded(LARGE)), None, 0.0)
    assert sweep_payloads(world) == 1
    with pytest.raises(psycopg.DatabaseError) as refused:
        finish(world.connection, [request])
    assert refused.value.sqlstate == PAYLOAD_GONE
    world.link.close()
    assert world.statuses(run_id)["A"] == "running"
    assert hands[0].finish(held, Succeeded(LARGE)).result == "committed"


def test_a_worker_uploads_again_what_was_swept_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []

    def sweep_once(connection: object, outcome: object) -> object:
        kept = keep_values(connection, outcome)  # type: ignore[arg-type]
        if not swept and isinstance(outcome, Succeeded) and outcome.output == LARGE and outcome.input:
            swept.append(sweep_payloads(world))
        return kept

    monkeypatch.setattr("runs.worker.keep_values", sweep_once)
    run_id = done(world, run_input=LARGE)
    assert len(swept) == 1
    assert swept[0] >= 1  # the output, and its equal input
    assert world.steps(run_id)["A"].output_ref is not None


def test_a_sweep_that_judged_before_a_finish_leaves_what_that_finish_refers_to(world: World, hands: list[Hand]) -> None:
    """The sweep looked for references before the finish, and comes to lock the payload's row only after its commit. It
    is held in between by a lock that its statement asks for.
    """
    begun(world)
    worker, sweeper = hands
    held = worker.take()
    request = Request(held, keep_values(world.connection, Succeeded(LARGE)), None, 0.0)
    world.connection.execute("UPDATE runs_payload SET touched_at = now() - interval '2 hours'")
    used = " OR ".join(
        f"EXISTS (SELECT FROM {table} WHERE {column} = p.hash)"
        for table, column in store.payload_references(world.connection)
    )
    statement = store.SWEEP_PAYLOADS.format(is_used=f"(SELECT pg_advisory_xact_lock(42) IS NULL) OR {used}")
    with Link(name="holder").connection as holder, ThreadPoolExecutor() as pool:
        holder.execute("SELECT pg_advisory_lock(42)")
        values = {"after": b"", "batch": 200, "grace_s": 3600.0}
        sweeping = pool.submit(lambda: sweeper.connection.execute(statement, values).fetchone())
        wait_until(lambda: activity(world, sweeper)[1] == "Lock")
        finish(world.connection, [request])
        holder.execute("SELECT pg_advisory_unlock(42)")
        gone = sweeping.result()
    assert gone is not None
    assert gone[1] == 0
    assert world.broken() == []


def test_every_column_that_refers_to_payloads_has_an_index(world: World) -> None:
    for table, column in store.payload_references(world.connection):
        indexed = world.connection.execute(
            "SELECT count(*) FROM pg_indexes WHERE tablename = %s AND indexdef LIKE %s", (table, f"%({column})%")
        ).fetchone()
        assert indexed != (0,), f"{table}.{column} has no index: each sweep would read the whole table"


# ---------------------------------------------------------------------- runs


def test_a_run_is_kept_for_ever_where_nobody_says_otherwise(world: World) -> None:
    run_id = done(world, days=4_000)
    assert Housekeeping(days=0).turn(world.connection).runs == 0
    assert Run.objects.filter(id=run_id).exists()


def test_an_expired_run_goes_with_all_that_belongs_to_it(world: World) -> None:
    old, young = done(world, days=40, run_input=LARGE), done(world, days=20)
    day, step = world.run(old).run_day, world.steps(old)["A"]
    assert partitions(world, day) == 4
    kept = Housekeeping(days=30, grace_s=-1).turn(world.connection)
    assert kept.runs == 1
    assert not Run.objects.filter(id=old).exists()
    assert not StepRun.objects.filter(run_id=old).exists()
    assert not Event.objects.filter(run_id=old).exists()
    assert partitions(world, day) == 0
    assert world.statuses(young) == dict.fromkeys("SAO", "succeeded")
    assert world.events(young)
    sweep_payloads(world)
    assert not Payload.objects.filter(hash=bytes(step.output_ref or b"")).exists()


def test_rows_of_a_day_that_must_stay_are_deleted_one_by_one(world: World) -> None:
    old = done(world, days=40)
    open_run = world.start(world.draw("S > D", configs={"D": {"seconds": 999}})).run_id
    world.work()
    age(world, open_run, days=40)
    day = world.run(old).run_day
    kept = Housekeeping(days=30).turn(world.connection)
    assert kept.runs == 1
    assert not Event.objects.filter(run_id=old).exists()
    assert partitions(world, day) == 4
    assert world.statuses(open_run) == {"S": "succeeded", "D": "waiting"}
    assert len(world.events(open_run)) == world.run(open_run).event_seq


def test_the_days_of_a_workspace_win_over_the_installations(world: World) -> None:
    run_id = done(world, days=40)
    Retention.objects.create(workspace=world.workspace, days=90, changed_at=now(), changed_by="Ana")
    assert Housekeeping(days=30).turn(world.connection).runs == 0
    Retention.objects.filter(workspace=world.workspace).update(days=0)
    assert Housekeeping(days=30).turn(world.connection).runs == 0
    Retention.objects.filter(workspace=world.workspace).update(days=10)
    assert Housekeeping(days=0).turn(world.connection).runs == 1
    assert not Run.objects.filter(id=run_id).exists()


def test_a_run_that_somebody_works_on_just_now_is_passed_over(world: World) -> None:
    run_id = done(world, days=40)
    with Link(name="other").connection as other:
        other.execute("BEGIN")
        other.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (run_id,))
        assert Housekeeping(days=30).turn(world.connection).runs == 0
        other.execute("ROLLBACK")
    assert Housekeeping(days=30).turn(world.connection).runs == 1


def test_everything_that_belongs_to_a_run_is_in_a_statement_of_its_own() -> None:
    told = " ".join(forgetting(Run))
    for table in ("runs_command", "runs_wait", "runs_artifact", "runs_steprun"):
        assert f"DELETE FROM {table} " in told


# ---------------------------------------------------------------------- what the database itself refuses


def test_no_day_with_an_open_run_is_dropped(world: World) -> None:
    run_id = world.start(world.draw("S > D", configs={"D": {"seconds": 999}})).run_id
    world.work()
    age(world, run_id, days=3)
    day = world.run(run_id).run_day
    assert not store.drop_day(world.connection, day, lock_ms=1000)
    assert partitions(world, day) == 4
    assert len(world.events(run_id)) == world.run(run_id).event_seq


def test_todays_partitions_are_never_dropped(world: World) -> None:
    found = world.connection.execute("SELECT (now() AT TIME ZONE 'UTC')::date").fetchone()
    assert found is not None
    assert not store.drop_day(world.connection, found[0], lock_ms=1000)


def test_a_day_that_somebody_reads_is_dropped_later(world: World, caplog: pytest.LogCaptureFixture) -> None:
    run_id = done(world, days=40)
    day = world.run(run_id).run_day
    with Link(name="reader").connection as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM runs_event")
        with caplog.at_level(logging.INFO):
            kept = Housekeeping(days=30).turn(world.connection)
        assert kept.runs == 1
        reader.execute("ROLLBACK")
        assert partitions(world, day) == 4
    assert Housekeeping(days=30).turn(world.connection).days >= 1
    assert partitions(world, day) == 0


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM runs_run WHERE id = %s", "only a final run"),
        ("DELETE FROM runs_steprun WHERE run_id = %s", "with their run only"),
        ("DELETE FROM runs_event WHERE run_id = %s", "append-only"),
    ],
)
def test_nothing_of_an_open_run_can_be_deleted(world: World, statement: str, words: str) -> None:
    run_id = world.start(world.draw("S > D", configs={"D": {"seconds": 999}})).run_id
    world.work()
    with pytest.raises(psycopg.DatabaseError, match=words), Link(name="other").connection as other:
        other.execute(statement, (run_id,))


# ---------------------------------------------------------------------- processes


def test_long_dead_workers_and_sweepers_are_forgotten_and_others_not(world: World, hands: list[Hand]) -> None:
    world.sweep()
    connection = world.connection
    connection.execute("UPDATE runs_worker SET dead_at = now() - interval '8 days' WHERE id = %s", (hands[0].id,))
    connection.execute("UPDATE runs_sweeper SET seen_at = now() - interval '2 days'")
    Housekeeping().turn(connection)
    found = connection.execute("SELECT id FROM runs_worker").fetchall()
    assert (hands[0].id,) not in found
    assert (hands[1].id,) in found
    assert connection.execute("SELECT count(*) FROM runs_sweeper").fetchone() == (0,)


def test_checkpoints_of_an_expired_run_go_as_well(world: World) -> None:
    run_id = done(world, days=40)
    step = world.steps(run_id)["A"]
    world.connection.execute(
        "INSERT INTO runs_checkpoint (run_day, step_run_id, attempt, fence, kind, key, value, at) "
        "VALUES (%s, %s, 1, 1, 'partial', '1', '1', now())",
        (step.run_day, step.id),
    )
    Housekeeping(days=30).turn(world.connection)
    assert not Checkpoint.objects.filter(step_run_id=step.id).exists()
