"""What a person does to one step that cannot go on, on the real store and through the doors."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from builder.connections.masking import MARK
from builder.connections.services import create_connection
from builder.graph.model import Policy, Retry
from kit.errors import AppError
from runs.attempt import job_for
from runs.core.outcomes import Crashed, Error, Failed, Fans, Succeeded
from runs.core.plan import PlanChanged
from runs.engine import repair
from runs.engine.commands import GenerationChanged
from runs.engine.operations import preview
from runs.engine.resume import resume_run, resuming
from runs.engine.scope import Values
from runs.models import Attempt, Command
from runs.runner.messages import Job
from teams.access import SYSTEM
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast
from tests.staging import begun

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))
SECRET = "hunter2-hunter2"


@pytest.fixture
def people(transactional_db: None) -> Cast:
    return cast()


@pytest.fixture
def acme(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world
        assert world.broken() == []


def act(world: World, operation: Any, run_id: UUID, **options: Any) -> Any:
    generation = options.pop("generation", world.run(run_id).generation)
    wanted = world.command(run_id, operation.__name__, generation=generation)
    with world.connection.transaction():
        return operation(world.connection, wanted, **options).result


def job_of(hand: Hand) -> tuple[Any, Job]:
    held = hand.take()
    job = job_for(hand.connection, held, values=Values())
    assert isinstance(job, Job)
    return held, job


def inputs(run_id: UUID) -> list[Any]:
    rows = Attempt.objects.filter(run_id=run_id).order_by("fence")
    return [each.input and json.loads(each.input) for each in rows]


# ---------------------------------------------------------------------- edit


def test_an_edited_input_is_what_every_later_attempt_runs_on_until_the_step_succeeds(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world, configs={"A": {"value": "{{ run.input }}"}}, policies={"A": Policy(retry=Retry(attempts=2))})
    hand = hands[0]
    held, job = job_of(hand)
    assert (job.config, job.is_resolved) == ({"value": "{{ run.input }}"}, False)
    hand.finish(held, Failed(Error("broken", "It broke."), input={"value": None}))
    new = {"value": "as it stands: {{ 1 + 1 }}"}
    assert act(world, repair.edit_step, run_id, path="A", given=new)["again"] == ["A", "B"]
    keys = {job.idempotency_key}
    for outcome in (Crashed("killed"), BROKEN, Succeeded(1, input=new)):
        held, job = job_of(hand)
        assert (job.config, job.is_resolved) == (new, True)
        keys.add(job.idempotency_key)
        hand.finish(held, outcome)
        if outcome is BROKEN:
            act(world, resume_run, run_id)
    assert len(keys) == 2
    assert inputs(run_id) == [{"value": None}, new, new, new]
    assert world.statuses(run_id)["A"] == "succeeded"


def test_a_large_edited_input_is_kept_by_reference(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), BROKEN)
    large = {"value": "x" * 100_000}
    act(world, repair.edit_step, run_id, path="A", given=large)
    assert world.steps(run_id)["A"].override_ref is not None
    assert job_of(hands[0])[1].config == large


def test_the_real_child_takes_what_a_person_gave_as_it_stands(world: World) -> None:
    run_id = begun(world, "S > A:set_fields > O", configs={"A": {"fields": {"x": "{{ steps.nobody.output }}"}}})
    world.work()
    assert world.statuses(run_id)["A"] == "failed"
    act(world, repair.edit_step, run_id, path="A", given={"fields": {"x": "{{ steps.nobody.output }}", "y": 2}})
    world.work()
    assert world.output(run_id, "A") == {"x": "{{ steps.nobody.output }}", "y": 2}
    assert world.run(run_id).status == "succeeded"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("text", "input"),
        ({}, "input.code"),
        ({"code": "result = 2"}, "input.code"),
        ({"code": "result = 1", "connection": "other"}, "input.connection"),
        ({"code": "result = 1", "nonsense": 1}, "input.nonsense"),
    ],
    ids=["no-object", "code-left-out", "other-code", "other-connection", "unknown-field"],
)
def test_an_input_that_the_step_cannot_have_is_refused_by_field(world: World, given: Any, field: str) -> None:
    run_id = begun(world, "S > A:python", configs={"A": {"code": "result = 1"}})
    before = world.run(run_id).event_seq
    with pytest.raises(AppError) as refusal:
        act(world, repair.edit_step, run_id, path="A", given=given)
    assert refusal.value.code == "bad_step_input"
    assert refusal.value.data["fields"][0]["field"] == field
    assert world.run(run_id).event_seq == before


def test_a_value_by_hand_is_as_large_as_an_output_may_be(world: World, hands: list[Hand], settings: Any) -> None:
    settings.OUTPUT_LIMIT_BYTES = 1_000
    run_id = begun(world)
    hands[0].finish(hands[0].take(), BROKEN)
    for operation, options in (
        (repair.edit_step, {"given": {"value": "x" * 999}}),
        (repair.supply_step, {"output": "x" * 999}),
    ):
        with pytest.raises(repair.ValueTooLarge):
            act(world, operation, run_id, path="A", **options)
    assert world.statuses(run_id)["A"] == "failed"


# ---------------------------------------------------------------------- guards


def failed(world: World, hands: list[Hand]) -> UUID:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), BROKEN)
    return run_id


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        (repair.edit_step, {"given": {"value": 1}}),
        (repair.skip_step, {}),
        (repair.supply_step, {"output": 1}),
    ],
    ids=["edit", "skip", "supply"],
)
def test_whoever_saw_the_run_before_somebody_else_mended_it_is_refused(
    world: World, hands: list[Hand], operation: Any, options: dict[str, Any]
) -> None:
    run_id = failed(world, hands)
    act(world, resume_run, run_id)
    hands[0].finish(hands[0].take(), BROKEN)
    with pytest.raises(GenerationChanged):
        act(world, operation, run_id, path="A", generation=1, **options)
    assert world.statuses(run_id)["A"] == "failed"
    act(world, operation, run_id, path="A", generation=2, **options)
    assert world.run(run_id).generation == 3


def test_an_act_does_what_its_preview_showed_or_nothing(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > C, S > B > D")
    held = hands[0].take(), hands[0].take()
    hands[0].finish(held[0], BROKEN)
    shown = preview(world.connection, run_id, resuming()).plan
    hands[0].finish(held[1], BROKEN)
    with pytest.raises(PlanChanged):
        act(world, resume_run, run_id, seen=shown.token)
    assert world.run(run_id).status == "failed"
    now = preview(world.connection, run_id, resuming()).plan
    assert act(world, resume_run, run_id, seen=now.token)["again"] == now.again


def test_a_double_click_on_skip_skips_once(world: World, hands: list[Hand]) -> None:
    run_id = failed(world, hands)
    wanted = world.command(run_id, "skip", generation=1)
    results = []
    for _ in range(2):
        with world.connection.transaction():
            results.append(repair.skip_step(world.connection, wanted, path="A").result)
    assert results[0] == results[1]
    assert world.events(run_id).count(("step.skipped", "A")) == 1


def test_the_time_that_is_saved_is_the_sum_of_what_the_kept_steps_took(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B > J > C")
    held = [hands[0].take(), hands[1].take()]  # side by side: each counts
    for each in held:
        hands[0].finish(each, Succeeded(1))
    hands[0].finish(hands[0].take(), Succeeded(1))
    hands[0].finish(hands[0].take(), BROKEN)
    shown = preview(world.connection, run_id, resuming())
    kept = [world.steps(run_id)[path] for path in shown.plan.kept]
    durations = [(step.finished_at - step.started_at).total_seconds() for step in kept if step.started_at]
    assert len(durations) == 3
    assert shown.saved_s == pytest.approx(sum(durations), abs=1e-6)
    assert shown.saved_s > 0


def test_a_supplied_output_of_a_container_is_what_others_read(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > E[A] > B", configs={"B": {"value": "{{ steps.E.output }}"}})
    hands[0].finish(hands[0].take(), Fans([1, 2], 2, "fail_at_end"))
    for _ in range(2):
        hands[0].finish(hands[0].take(), BROKEN)
    act(world, repair.supply_step, run_id, path="E", output=["by", "hand"])
    held, job = job_of(hands[0])
    assert (held.path, job.scope["steps"]["E"]["output"]) == ("B", ["by", "hand"])


# ---------------------------------------------------------------------- doors


def post(people: Cast, tail: str, role: Role = Role.OPERATOR, **body: Any) -> tuple[int, Any]:
    address = f"/api/workspaces/{people.acme.slug}/runs/{tail}"
    answer = people.client(role).post(address, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def command(**more: Any) -> dict[str, Any]:
    return {"command_id": str(uuid4()), "generation": 1, **more}


def test_each_operation_has_a_preview_that_changes_nothing_and_that_the_act_follows(acme: World, people: Cast) -> None:
    configs = {"A": {"value": "{{ steps.nobody.output }}"}}
    for operation, door, more in (
        ("edit_input", "edit-input", {"input": {"value": 5}}),
        ("skip", "skip", {}),
        ("supply_output", "supply", {"output": 5}),
    ):
        run_id = begun(acme, "S > A > B > O", configs=configs)
        acme.work()
        before = (acme.statuses(run_id), acme.events(run_id))
        asked = {name: value for name, value in more.items() if name != "output"}
        status, shown = post(people, f"{run_id}/preview", operation=operation, path="A", **asked)
        assert (status, shown["allowed"]) == (200, True), shown
        assert (acme.statuses(run_id), acme.events(run_id)) == before
        assert post(people, f"{run_id}/steps/A/{door}", **command(plan="another", **more))[0] == 409
        assert post(people, f"{run_id}/steps/A/{door}", Role.VIEWER, **command(**more))[0] == 403
        status, done = post(people, f"{run_id}/steps/A/{door}", **command(plan=shown["plan"], **more))
        assert (status, done["again"], done["generation"]) == (200, shown["again"], 2), done
        acme.work()
        assert acme.run(run_id).status == "succeeded"
        record = AuditRecord.objects.get(target_id=str(run_id), action=f"run.{operation}")
        assert (record.actor_name, record.data["step"]) == (people.actor(Role.OPERATOR).name, "A")
        assert Command.objects.get(run_id=run_id).operation == operation


def test_a_plan_is_good_only_for_the_answer_that_it_was_shown_for(acme: World, people: Cast, hands: list[Hand]) -> None:
    """Both answers run the same step again: one under the same key, the other under a new one."""
    run_id = begun(acme, policies={"A": Policy(delivery="at_most_once")})
    hands[0].finish(hands[0].take(), Crashed("killed"))
    _, shown = post(people, f"{run_id}/preview", operation="decide", path="A", decision="not_happened")
    assert shown["again"] == ["A"]
    for door, more in (("decide", {"decision": "run_again"}), ("skip", {})):
        status, refused = post(people, f"{run_id}/steps/A/{door}", **command(plan=shown["plan"], **more))
        assert (status, refused["code"]) == (409, "plan_changed")
    assert acme.statuses(run_id)["A"] == "needs_decision"
    decided = command(plan=shown["plan"], decision="not_happened")
    for _ in range(2):
        assert post(people, f"{run_id}/steps/A/decide", **decided) == (200, {"status": "ready"})


def test_a_preview_says_why_something_cannot_be_done(acme: World, people: Cast) -> None:
    run_id = begun(acme)
    for operation in ("skip", "supply_output", "edit_input", "retry_now", "decide"):
        extra = {"input": {"value": 1}} if operation == "edit_input" else {}
        status, shown = post(people, f"{run_id}/preview", operation=operation, path="A", **extra)
        assert (status, shown["allowed"], shown["plan"]) == (200, False, None)
        assert shown["refusal"].startswith("The step is ready")
    assert post(people, f"{run_id}/preview", operation="skip")[0] == 400
    assert post(people, f"{run_id}/preview", operation="skip", path="nobody")[0] == 404


def test_an_override_is_shown_with_its_step(acme: World, people: Cast) -> None:
    configs = {"A": {"value": "{{ steps.nobody.output }}"}}
    run_id = begun(acme, configs=configs)
    acme.work()
    address = f"/api/workspaces/{people.acme.slug}/runs/{run_id}/steps/A"
    client = people.client(Role.VIEWER)
    assert client.get(address).json()["override"] is None
    assert post(people, f"{run_id}/steps/A/edit-input", **command(input={"value": 5}))[0] == 200
    acme.work()
    shown = client.get(address).json()
    assert (shown["override"]["value"], shown["edition"]) == ({"value": 5}, 2)
    assert [attempt["input"]["value"] for attempt in shown["attempts"]] == [configs["A"], {"value": 5}]


def test_a_secret_is_refused_as_an_input_and_masked_in_an_output(acme: World, people: Cast) -> None:
    http = {"base_url": "https://example.com", "token": SECRET}
    create_connection(actor=SYSTEM, workspace=people.acme, name="api", kind="http", settings=http)
    run_id = begun(acme, configs={"A": {"value": "{{ steps.nobody.output }}"}})
    acme.work()
    for value in (f"Bearer {SECRET}", MARK):
        for tail, more in (
            (f"{run_id}/preview", {"operation": "edit_input", "path": "A"}),
            (f"{run_id}/steps/A/edit-input", command()),
        ):
            status, problem = post(people, tail, input={"value": value}, **more)
            assert (status, problem["code"]) == (400, "bad_step_input")
    assert post(people, f"{run_id}/steps/A/supply", **command(output={"auth": f"Bearer {SECRET}"}))[0] == 200
    assert acme.output(run_id, "A") == {"auth": f"Bearer {MARK}"}


def test_a_retry_that_would_come_later_starts_at_once(acme: World, people: Cast, hands: list[Hand]) -> None:
    run_id = begun(acme, policies={"A": Policy(retry=Retry(attempts=3, first_delay_s=3_600))})
    hands[0].finish(hands[0].take(), Failed(Error("flaky", "Again.", retryable=True)))
    assert hands[0].claim().held is None
    assert post(people, f"{run_id}/steps/A/retry-now", **command())[0] == 200
    assert hands[0].take().attempt == 2
    assert post(people, f"{run_id}/steps/A/retry-now", **command())[0] == 409
