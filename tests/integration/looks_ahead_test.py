"""What may take long is looked at before a transaction, with nothing locked; and again where that look held no more."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from builder.workflows.models import Version
from runs.engine import check_input as checking
from runs.engine.check_input import BadRunInput, check_input
from runs.engine.children import Turns, deliver
from runs.link import Link
from runs.models import Outbox, Run, Trigger
from runs.store import outbox
from runs.triggers import services
from runs.triggers.sweep import fire_due
from runs.triggers.webhook import Delivery, find_hook, receive
from teams.access import SYSTEM
from tests import apart
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)

WANTS_TOTAL = {"type": "object", "required": ["total"]}
SLOW = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
KINDS = {"C": "run_workflow"}


@pytest.fixture(autouse=True)
def workers_deliver_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.worker.deliver", lambda *_, **__: 0)


def asking(world: World, schema: dict[str, Any] | None = None) -> Version:
    return world.draw("S > O", configs={"S": {"input_schema": schema} if schema else {}, "O": {"value": 1}})


def publish(version: Version, schema: dict[str, Any] | None) -> Version:
    graph = json.loads(version.graph)
    start = next(node for node in graph["nodes"] if node["kind"] == "start")
    start["config"] = {"input_schema": schema} if schema else {}
    return Version.objects.create(workflow=version.workflow, number=2, graph=json.dumps(graph))


def call(world: World, version: Version, given: Any) -> UUID:
    """A run whose step has asked for a child; nobody has delivered that."""
    configs = {"C": {"workflow": str(version.workflow_id), "input": given}}
    run_id = world.start(world.draw("S > C", kinds=KINDS, configs=configs)).run_id
    world.work()
    return run_id


def hook(version: Version) -> Trigger:
    return services.create_trigger(
        actor=SYSTEM, workflow=version.workflow, kind="webhook", name="in",
        settings={"security": "none", "input": "body"},
    )  # fmt: skip


def post(trigger: Trigger, body: Any) -> UUID:
    delivery = Delivery("POST", {"content-type": "application/json"}, "", json.dumps(body).encode())
    return receive(find_hook(trigger.path or ""), delivery).run_id


class Held:
    """Checks of inputs stand still, the first one, until they are let go."""

    def __init__(self) -> None:
        self.began, self.over = threading.Event(), threading.Event()
        self.real = checking.schema_problems

    def check(self, value: Any, schema: Any) -> Any:
        self.began.set()
        assert self.over.wait(20)
        return self.real(value, schema)

    def during(self, act: Callable[[], Any], meanwhile: Callable[[], None]) -> Any:
        """What `act` gives, which stands still while `meanwhile` is done."""

        def acting_alone() -> Any:
            try:
                return act()
            finally:
                connection.close()  # else the pool misses it for ever

        with ThreadPoolExecutor() as pool:
            acting = pool.submit(acting_alone)
            try:
                assert self.began.wait(20)
                meanwhile()
            finally:
                self.over.set()
            return acting.result(30)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held()
    monkeypatch.setattr(checking, "schema_problems", held.check)
    yield held
    held.over.set()


def lock_all(*tables: str) -> None:
    """Takes every row at once, or raises: somebody holds one."""
    with Link(name="other").connection as other, other.transaction():
        for table in tables:
            other.execute(f"SELECT FROM {table} FOR UPDATE NOWAIT")


# ---------------------------------------------------------------------- the rule and its watch


def test_a_check_in_a_transaction_is_noticed_whoever_opened_it(world: World) -> None:
    version = asking(world)
    with pytest.raises(apart.InATransaction), transaction.atomic():
        check_input(world.connection, version.id, None)
    with pytest.raises(apart.InATransaction), world.connection.transaction():
        check_input(world.connection, version.id, None)
    assert len(apart.broken) == 2
    apart.broken.clear()
    check_input(world.connection, version.id, None)


def test_nothing_is_locked_while_a_childs_input_is_checked(world: World, held: Held) -> None:
    run_id = call(world, asking(world, WANTS_TOTAL), {"total": 1})
    with Link(name="deliverer").connection as deliverer:
        meanwhile = lambda: lock_all("runs_run", "runs_steprun", "runs_outbox")  # noqa: E731
        assert held.during(lambda: deliver(deliverer), meanwhile) == 1
    assert Run.objects.filter(parent_run_id=run_id).exists()


def test_nothing_is_locked_while_a_deliverys_input_is_checked(world: World, held: Held) -> None:
    trigger = hook(asking(world, WANTS_TOTAL))
    run_id = held.during(lambda: post(trigger, {"total": 1}), lambda: lock_all("runs_trigger", "runs_firing"))
    assert Run.objects.get(id=run_id).trigger_id == trigger.id


def test_nothing_is_locked_while_a_schedules_input_is_checked(world: World, held: Held) -> None:
    held.over.set()
    trigger = services.create_trigger(
        actor=SYSTEM, workflow=asking(world, WANTS_TOTAL).workflow, kind="schedule", name="hourly",
        settings={"cron": "0 * * * *", "input": {"total": 1}},
    )  # fmt: skip
    world.connection.execute(
        "UPDATE runs_trigger SET decided_to = decided_to - interval '1 hour', next_at = now() - interval '1 second'"
    )
    held.over.clear()
    held.began.clear()
    with Link(name="triggers").connection as triggers:
        assert held.during(lambda: fire_due(triggers), lambda: lock_all("runs_trigger", "runs_firing")) == 1
    assert Run.objects.filter(trigger_id=trigger.id).count() == 1


# ---------------------------------------------------------------------- a look that holds no more


def test_a_version_published_during_the_look_is_what_a_childs_input_must_fit(world: World, held: Held) -> None:
    version = asking(world, {"type": "object"})
    run_id = call(world, version, {"n": 1})
    with Link(name="deliverer").connection as deliverer:
        assert held.during(lambda: deliver(deliverer), lambda: publish(version, WANTS_TOTAL)) == 0
    assert not Run.objects.filter(parent_run_id=run_id).exists()
    assert deliver(world.connection) == 1
    assert "bad_run_input" in (world.steps(run_id)["C"].error or "")


def test_a_version_published_during_the_look_is_what_a_delivery_starts(world: World, held: Held) -> None:
    version = asking(world, WANTS_TOTAL)
    trigger = hook(version)
    run_id = held.during(lambda: post(trigger, {"total": 1}), lambda: publish(version, None))
    assert Run.objects.get(id=run_id).version.number == 2


def test_a_version_published_during_the_look_is_what_a_deliverys_input_must_fit(world: World, held: Held) -> None:
    version = asking(world, {"type": "object"})
    trigger = hook(version)
    with pytest.raises(BadRunInput):
        held.during(lambda: post(trigger, {"n": 1}), lambda: publish(version, WANTS_TOTAL))
    assert not Run.objects.filter(trigger_id=trigger.id).exists()


def test_a_delivery_that_came_before_is_answered_without_a_look(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = hook(asking(world, WANTS_TOTAL))
    named = Delivery("POST", {"content-type": "application/json", "x-delivery-id": "7"}, "", b'{"total": 1}')
    trigger_hook = find_hook(trigger.path or "")
    named = Delivery(
        named.method, {**named.headers, trigger_hook.settings.delivery_header.lower(): "7"}, "", named.body
    )
    first = receive(trigger_hook, named)
    monkeypatch.setattr(checking, "schema_problems", lambda *_: pytest.fail("looked again"))
    again = receive(trigger_hook, named)
    assert (again.run_id, again.is_new) == (first.run_id, False)


# ---------------------------------------------------------------------- who may take long


def test_an_impatient_deliverer_leaves_a_slow_check_and_does_the_rest(world: World) -> None:
    slow = call(world, asking(world, SLOW), {"a": "aaa"})
    quick = call(world, asking(world, WANTS_TOTAL), {"total": 1})
    turns = Turns(is_patient=False)
    assert deliver(world.connection, turns=turns) == 1
    assert turns.left
    assert list(Run.objects.values_list("parent_run_id", flat=True).exclude(parent_run_id=None)) == [quick]
    assert deliver(world.connection) == 1
    assert Run.objects.filter(parent_run_id=slow).exists()


def test_a_slow_check_is_one_deliverers_at_a_time(world: World) -> None:
    call(world, asking(world, SLOW), {"a": "aaa"})
    (row,) = Outbox.objects.all()
    post = outbox.Post(row.id, row.kind, row.run_id, row.step_run_id, row.data, row.workspace_id)
    assert outbox.lease(world.connection, post, for_s=60)
    assert not outbox.lease(world.connection, post, for_s=60)
    assert deliver(world.connection) == 0


def test_whoever_dies_in_a_slow_check_has_only_delayed_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = call(world, asking(world, SLOW), {"a": "aaa"})

    def dies(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as struck:
        struck.setattr(checking, "schema_problems", dies)
        with pytest.raises(SystemExit):
            deliver(world.connection)
    assert deliver(world.connection) == 0
    world.connection.execute("UPDATE runs_outbox SET not_before = now()")  # the lease is over
    assert deliver(world.connection) == 1
    assert Run.objects.filter(parent_run_id=run_id).count() == 1


# ---------------------------------------------------------------------- turns


def test_no_workspaces_flood_keeps_another_ones_child_waiting(world: World) -> None:
    from teams.models import Workspace

    first = asking(world)
    flood = [call(world, first, None) for _ in range(5)]
    world.workspace = Workspace.objects.create(slug="late", name="late")
    late = call(world, asking(world), None)
    turns = Turns()
    for _ in range(2):
        assert deliver(world.connection, at_most=1, turns=turns) == 1
    begun = set(Run.objects.exclude(parent_run_id=None).values_list("parent_run_id", flat=True))
    assert late in begun
    assert len(begun & set(flood)) == 1


def test_rows_of_a_worker_from_before_the_turns_have_one_together(world: World) -> None:
    run_id = call(world, asking(world), None)
    world.connection.execute("UPDATE runs_outbox SET workspace_id = DEFAULT")
    assert deliver(world.connection) == 1
    assert Run.objects.filter(parent_run_id=run_id).exists()


def test_a_flood_is_not_read_as_a_whole_for_one_delivery(world: World) -> None:
    world.connection.execute(
        "INSERT INTO runs_outbox (run_id, step_run_id, workspace_id, kind, data, not_before)"
        " SELECT gen_random_uuid(), n, %s, 'child_done', '{}', now() FROM generate_series(1, 5000) n",
        (world.workspace.id,),
    )
    world.connection.execute("ANALYZE runs_outbox")
    values = {"after": UUID(int=0), "passed": []}
    found = world.connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {outbox.NEXT}", values).fetchone()
    assert found is not None

    def rows(plan: dict[str, Any]) -> int:
        own = plan["Actual Rows"] * plan["Actual Loops"]
        return max([own, *(rows(child) for child in plan.get("Plans", []))])

    assert rows(found[0][0]["Plan"]) < 10
    world.connection.execute("TRUNCATE runs_outbox")
