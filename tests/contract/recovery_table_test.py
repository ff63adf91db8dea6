"""Whatever an operator can do to runs: from one table, that each has a preview, a permission, a line in the audit
trail, and an answer to the same request sent twice. A route that changes a run and is not in the table fails here.
"""

import ast
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from django.http import HttpResponse

from runs.api.recovery_shapes import PreviewIn
from runs.api.trigger_shapes import BackfillIn
from runs.bulk.operations import OPERATIONS as BULK_OPERATIONS
from runs.models import Firing
from teams.access import Permission
from teams.models import AuditRecord, Role
from tests.contract import sources
from tests.contract.route_table import BULK, ROUTES, RUN, STEP, TRIGGER, WORKFLOW, WORKSPACE, World, make_world

Key = tuple[str, str]
PREVIEW = ("POST", f"{RUN}/preview")
BULK_PREVIEW = ("POST", f"{WORKSPACE}/bulk/preview")


@dataclass(frozen=True)
class Operation:
    """`preview` is its route and what is asked there; None with a reason in `because`. `again` says how the same
    request twice is known: by its command id, a key, the revision that was seen, or because it says what shall be.
    """

    act: Key
    audit: str
    preview: tuple[Key, str] | None
    permission: Permission = Permission.RUN
    again: str = "command_id"
    because: str = ""


def _run(name: str) -> Key:
    return ("POST", f"{RUN}/{name}")


def _step(name: str) -> Key:
    return ("POST", f"{STEP}/{name}")


OPERATIONS = {
    # of product.md: what an operator can do with a failed run
    "resume": Operation(_run("resume"), "run.resume", (PREVIEW, "resume")),
    "edit input and resume": Operation(_step("edit-input"), "run.edit_input", (PREVIEW, "edit_input")),
    "skip": Operation(_step("skip"), "run.skip", (PREVIEW, "skip")),
    "supply an output": Operation(_step("supply"), "run.supply_output", (PREVIEW, "supply_output")),
    "decide": Operation(_step("decide"), "run.decide", (PREVIEW, "decide")),
    "retry now": Operation(_step("retry-now"), "run.retry_now", (PREVIEW, "retry_now")),
    "fork": Operation(_run("fork"), "run.fork", (PREVIEW, "fork")),
    "bulk": Operation(("POST", f"{WORKSPACE}/bulk"), "bulk.start", (BULK_PREVIEW, "resume")),
    # what else changes a run, or starts one
    "cancel": Operation(_run("cancel"), "run.cancel", (BULK_PREVIEW, "cancel")),
    "pause": Operation(_run("pause"), "run.pause", (BULK_PREVIEW, "pause")),
    "unpause": Operation(_run("unpause"), "run.unpause", (BULK_PREVIEW, "unpause")),
    "backfill": Operation(
        ("POST", f"{TRIGGER}/backfill"), "trigger.backfill", (("POST", f"{TRIGGER}/backfill"), ""), again="state"
    ),
    "breakpoints": Operation(
        ("PUT", f"{RUN}/breakpoints"), "run.breakpoints", None, because="it changes nothing by itself"
    ),
    "label": Operation(
        ("PUT", f"{RUN}/labels"), "run.labels", None, again="state", because="it changes nothing of how the run goes on"
    ),
    "stop a bulk": Operation(
        ("POST", f"{BULK}/stop"), "bulk.stop", None, again="state", because="what is done stays, and may be continued"
    ),
    "continue a bulk": Operation(
        ("POST", f"{BULK}/continue"), "bulk.continue", None, again="revision", because="previewed as it began"
    ),
    "start": Operation(
        ("POST", f"{WORKFLOW}/runs"), "run.start", None, again="key", because="there is no run yet to look at"
    ),
    "answer": Operation(
        ("POST", f"{WORKSPACE}/waits/{{wait_id}}/answer"), "run.answer", None, Permission.APPROVE,
        because="the question itself shows what is decided",
    ),
    "callback link": Operation(
        _step("callback-link"), "run.callback_link", None, Permission.APPROVE, again="state", because="it only shows"
    ),
}  # fmt: skip
each = pytest.mark.parametrize("name", OPERATIONS)
TOUCH_RUNS = (
    f"{RUN}/",
    f"{BULK}/",
    f"{WORKSPACE}/bulk",
    f"{WORKFLOW}/runs",
    f"{TRIGGER}/backfill",
    f"{WORKSPACE}/waits/",
)


def test_whatever_changes_a_run_is_in_the_table() -> None:
    changing = {key for key in ROUTES if key[0] != "GET" and f"{key[1]}/".startswith(TOUCH_RUNS)}
    assert changing - {PREVIEW, BULK_PREVIEW} == {one.act for one in OPERATIONS.values()}


@each
def test_an_operation_has_a_preview_that_anybody_who_sees_the_run_may_ask(name: str) -> None:
    one = OPERATIONS[name]
    if one.preview is None:
        assert one.because
        return
    route, asked = one.preview
    if route == one.act:
        assert "preview" in BackfillIn().fields
        return
    assert ROUTES[route].who is Permission.VIEW
    known = PreviewIn().fields["operation"].choices if route == PREVIEW else BULK_OPERATIONS
    assert asked in known


@each
def test_an_operation_needs_its_permission(name: str) -> None:
    assert ROUTES[OPERATIONS[name].act].who is OPERATIONS[name].permission


@each
def test_an_operation_is_recorded_under_its_verb(name: str) -> None:
    assert OPERATIONS[name].audit in _verbs()


@each
def test_an_operation_knows_the_same_request(name: str) -> None:
    one = OPERATIONS[name]
    body = ROUTES[one.act].body
    sent = body(World(None, {"run_id": "x"})) if body else {}  # type: ignore[arg-type]
    if one.again in ("command_id", "revision"):
        assert one.again in sent
    else:
        assert "command_id" not in sent


@cache
def _verbs() -> set[str]:
    """What the code records: the constant of each `audit.record`, and `run.<operation>` of each Command."""
    found = set()
    for file in (name for name in sources.python_files(tests=False) if name.startswith("runs/")):
        for call in sources.calls(file):
            values = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            if sources.called(call) == "record":
                found.update(values)
            elif sources.called(call) == "Command":
                found.update(f"run.{value}" for value in values)
    return found


# ---------------------------------------------------------------------- for real


def _send(world: World, key: Key, body: dict[str, Any]) -> HttpResponse:
    address = "/api/" + key[1].format_map(world.names)
    client = world.people.client(Role.OPERATOR)
    return client.generic(key[0], address, json.dumps(body).encode(), content_type="application/json")  # type: ignore[return-value]


SUCCEED = [name for name, one in OPERATIONS.items() if one.again == "command_id" and ROUTES[one.act].answers < 300]


@pytest.mark.django_db
@pytest.mark.parametrize("name", SUCCEED)
def test_the_same_command_twice_is_done_and_recorded_once(name: str) -> None:
    one, world = OPERATIONS[name], make_world()
    make = ROUTES[one.act].body
    assert make is not None
    body = make(world)
    before = AuditRecord.objects.count()
    first, again = _send(world, one.act, body), _send(world, one.act, body)
    assert first.status_code == ROUTES[one.act].answers
    assert again.status_code in (200, first.status_code)
    assert json.loads(again.content) == json.loads(first.content)
    assert [row.action for row in AuditRecord.objects.order_by("id")[before:]] == [one.audit]


@pytest.mark.django_db
def test_the_preview_of_a_backfill_counts_what_the_act_then_queues_and_changes_nothing() -> None:
    world, key = make_world(), ("POST", f"{TRIGGER}/backfill")
    make = ROUTES[key].body
    assert make is not None
    before = AuditRecord.objects.count()
    seen = _send(world, key, {**make(world), "preview": True})
    assert (seen.status_code, AuditRecord.objects.count(), Firing.objects.count()) == (200, before, 0)
    done = _send(world, key, make(world))
    assert json.loads(done.content) == json.loads(seen.content)
    assert Firing.objects.count() == json.loads(done.content)["queued"] > 0
