"""Every route of the API, who may use it, and a body that it takes. A route without a row here fails
tests/contract/test_every_route.py.

Bodies are made from the `World`, which holds one of each thing in Acme. The permission is the one that
docs/architecture.md names, not what the code says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from django.utils.timezone import now

from builder.connections.services import create_connection
from builder.workflows.services import create_workflow, publish
from runs.alerts.services import create_alert
from runs.artifacts import place_of
from runs.bulk.services import Pace, Selection, begin_bulk
from runs.models import Artifact, ArtifactFile, FailureGroup, Run, StepRun, Wait
from runs.saved import create_view
from runs.services import start_run
from runs.triggers.services import create_trigger
from teams.access import SYSTEM, Permission
from teams.models import Role
from tests.people import Cast, cast

Who = Literal["anyone", "signed in", "installation"] | Permission  # installation: whoever runs this Pawl


@dataclass(frozen=True)
class World:
    people: Cast
    names: dict[str, str]  # parameter of an address -> value in Acme


@dataclass(frozen=True)
class Row:
    who: Who
    body: Callable[[World], dict[str, Any]] | None = None  # None: the route takes none
    answers: int = 200
    opens_transaction: bool = False  # of an isolation level of its own: cannot run inside a test's transaction


GRAPH: dict[str, Any] = {"schema": 1, "nodes": [{"id": "n1", "key": "start", "kind": "start"}], "edges": []}
WAITING = {
    "nodes": [*GRAPH["nodes"], {"id": "n2", "key": "pause", "kind": "delay", "config": {"seconds": 60}}],
    "edges": [{"id": "e1", "source": "n1", "target": "n2"}],
}
HTTP = {"base_url": "https://example.com", "token": "a-token-of-the-tests"}

NIGHTLY = {"cron": "0 2 * * *", "zone": "Europe/Berlin", "input": {}}

ALERT = {"name": "new", "channel": "mail", "events": ["failed"], "recipients": ["ana@example.com"]}

WORKSPACE = "workspaces/{workspace}"
WORKFLOW = f"{WORKSPACE}/workflows/{{workflow_id}}"
RUN = f"{WORKSPACE}/runs/{{run_id}}"
STEP = f"{RUN}/steps/{{path}}"
BULK = f"{WORKSPACE}/bulk/{{bulk_id}}"
CONNECTION = f"{WORKSPACE}/connections/{{connection_id}}"
TRIGGER = f"{WORKSPACE}/triggers/{{trigger_id}}"


def _command() -> dict[str, str]:
    return {"command_id": str(uuid4())}


ROUTES: dict[tuple[str, str], Row] = {
    ("GET", "health"): Row("anyone"),
    ("GET", "session"): Row("signed in"),
    ("GET", f"{WORKSPACE}/members"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/step-kinds"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/connection-kinds"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/connections"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/connections"): Row(
        Permission.CONNECT, lambda world: {"name": "new", "kind": "http", "settings": HTTP}, 201
    ),
    ("PUT", CONNECTION): Row(Permission.CONNECT, lambda world: {"name": "renamed"}),
    ("DELETE", CONNECTION): Row(Permission.CONNECT, None, 204),
    ("GET", f"{WORKSPACE}/workflows"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/workflows"): Row(Permission.EDIT, lambda world: {"name": "new"}, 201),
    ("GET", WORKFLOW): Row(Permission.VIEW),
    ("PATCH", WORKFLOW): Row(Permission.EDIT, lambda world: {"name": "renamed"}),
    ("GET", f"{WORKFLOW}/draft"): Row(Permission.VIEW),
    ("PUT", f"{WORKFLOW}/draft"): Row(Permission.EDIT, lambda world: {"revision": 1, "graph": GRAPH}),
    ("POST", f"{WORKFLOW}/check"): Row(Permission.VIEW, lambda world: {"graph": GRAPH}),
    ("POST", f"{WORKFLOW}/describe"): Row(Permission.VIEW, lambda world: {"kind": "start", "config": {}}),
    ("POST", f"{WORKFLOW}/publish"): Row(
        Permission.EDIT, lambda world: {"revision": 1, "note": "again", "again": True}, 201
    ),
    ("GET", f"{WORKFLOW}/versions"): Row(Permission.VIEW),
    ("GET", f"{WORKFLOW}/versions/{{number}}"): Row(Permission.VIEW),
    ("POST", f"{WORKFLOW}/runs"): Row(Permission.RUN, lambda world: {"version": 1}, 201),
    ("GET", f"{WORKSPACE}/runs"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/runs/count"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/labels"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/failures"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/failures/count"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/failures/{{fingerprint}}"): Row(Permission.VIEW),
    ("PUT", f"{WORKSPACE}/failures/{{fingerprint}}"): Row(Permission.RUN, lambda world: {"state": "handled"}),
    ("GET", f"{WORKSPACE}/views"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/views"): Row(Permission.VIEW, lambda world: {"name": "new", "query": "status=failed"}, 201),
    ("PATCH", f"{WORKSPACE}/views/{{view_id}}"): Row(Permission.RUN, lambda world: {"name": "renamed"}),
    ("DELETE", f"{WORKSPACE}/views/{{view_id}}"): Row(Permission.RUN, None, 204),
    ("PUT", f"{RUN}/labels"): Row(Permission.RUN, lambda world: {"add": ["to check"]}),
    ("GET", RUN): Row(Permission.VIEW, opens_transaction=True),
    ("GET", f"{RUN}/events"): Row(Permission.VIEW),
    ("GET", f"{RUN}/pulse"): Row(Permission.VIEW),
    ("GET", f"{RUN}/usual"): Row(Permission.VIEW),
    ("GET", STEP): Row(Permission.VIEW),
    ("GET", f"{STEP}/logs"): Row(Permission.VIEW),
    ("GET", f"{STEP}/artifacts"): Row(Permission.VIEW),
    ("GET", f"{RUN}/artifacts/{{artifact_id}}"): Row(Permission.VIEW),
    ("GET", f"{RUN}/items/{{path}}"): Row(Permission.VIEW),
    ("POST", f"{RUN}/preview"): Row(Permission.VIEW, lambda world: {"operation": "resume"}, opens_transaction=True),
    ("POST", f"{RUN}/resume"): Row(Permission.RUN, lambda world: {**_command(), "generation": 1}, 409),  # did not fail
    ("POST", f"{RUN}/fork"): Row(Permission.RUN, lambda world: {**_command(), "generation": 1, "path": "pause"}, 201),
    ("POST", f"{RUN}/cancel"): Row(Permission.RUN, lambda world: _command()),
    ("POST", f"{RUN}/pause"): Row(Permission.RUN, lambda world: _command()),
    ("POST", f"{RUN}/unpause"): Row(Permission.RUN, lambda world: _command(), 409),  # it is not paused
    ("PUT", f"{RUN}/breakpoints"): Row(Permission.RUN, lambda world: {**_command(), "breakpoints": [{"node": "n2"}]}),
    ("POST", f"{STEP}/decide"): Row(
        Permission.RUN, lambda world: {**_command(), "generation": 1, "decision": "skip"}, 409
    ),
    ("GET", f"{WORKSPACE}/retention"): Row(Permission.VIEW),
    ("PUT", f"{WORKSPACE}/retention"): Row(Permission.MANAGE_WORKSPACE, lambda world: {"days": 90}),
    ("POST", f"{STEP}/callback-link"): Row(Permission.APPROVE, None, 409),  # a delay takes no callback
    ("POST", "callbacks/{token}"): Row("anyone"),
    ("POST", f"{STEP}/edit-input"): Row(
        Permission.RUN, lambda world: {**_command(), "generation": 1, "input": {"seconds": 1}}, 409
    ),  # it has not failed
    ("POST", f"{STEP}/skip"): Row(Permission.RUN, lambda world: {**_command(), "generation": 1}, 409),
    ("POST", f"{STEP}/supply"): Row(Permission.RUN, lambda world: {**_command(), "generation": 1, "output": 1}, 409),
    ("POST", f"{STEP}/retry-now"): Row(Permission.RUN, lambda world: {**_command(), "generation": 1}, 409),
    ("GET", f"{WORKSPACE}/bulk"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/bulk"): Row(
        Permission.RUN, lambda world: {**_command(), "operation": "cancel", "ids": [world.names["run_id"]]}, 201
    ),
    ("POST", f"{WORKSPACE}/bulk/preview"): Row(
        Permission.VIEW, lambda world: {"operation": "cancel", "filter": {"status": "running"}}
    ),
    ("GET", BULK): Row(Permission.VIEW),
    ("GET", f"{BULK}/runs"): Row(Permission.VIEW),
    ("POST", f"{BULK}/stop"): Row(Permission.RUN),
    ("POST", f"{BULK}/continue"): Row(Permission.RUN, lambda world: {"revision": 1}, 409),  # it goes on already
    ("GET", f"{WORKSPACE}/waits"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/waits/{{wait_id}}"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/waits/{{wait_id}}/answer"): Row(
        Permission.APPROVE, lambda world: {**_command(), "decision": "approved"}, 410
    ),  # answered already
    ("GET", f"{WORKFLOW}/steps/{{node}}/history"): Row(Permission.VIEW),
    ("GET", f"{WORKFLOW}/doctor"): Row(Permission.VIEW),
    ("GET", f"{WORKFLOW}/triggers"): Row(Permission.VIEW),
    ("POST", f"{WORKFLOW}/triggers"): Row(
        Permission.EDIT, lambda world: {"kind": "schedule", "name": "new", "enabled": True, "settings": NIGHTLY}, 201
    ),
    ("GET", f"{WORKSPACE}/triggers"): Row(Permission.VIEW),
    ("GET", TRIGGER): Row(Permission.VIEW),
    ("PATCH", TRIGGER): Row(Permission.EDIT, lambda world: {"name": "renamed", "enabled": False, "settings": NIGHTLY}),
    ("DELETE", TRIGGER): Row(Permission.EDIT, None, 204),
    ("GET", f"{TRIGGER}/firings"): Row(Permission.VIEW),
    ("POST", f"{TRIGGER}/backfill"): Row(
        Permission.RUN, lambda world: {"begin": "2026-03-01T00:00:00Z", "end": "2026-03-03T00:00:00Z"}
    ),
    ("POST", f"{TRIGGER}/secret"): Row(Permission.EDIT, None, 409),  # it is a schedule
    ("POST", f"{WORKSPACE}/schedule-preview"): Row(
        Permission.VIEW, lambda world: {"cron": "0 2 * * *", "zone": "UTC", "after": "2026-03-01T00:00:00Z"}
    ),
    ("GET", f"{WORKSPACE}/alerts"): Row(Permission.VIEW),
    ("POST", f"{WORKSPACE}/alerts"): Row(Permission.EDIT, lambda world: ALERT, 201),
    ("PATCH", f"{WORKSPACE}/alerts/{{alert_id}}"): Row(Permission.EDIT, lambda world: {"name": "renamed"}),
    ("DELETE", f"{WORKSPACE}/alerts/{{alert_id}}"): Row(Permission.EDIT, None, 204),
    ("POST", f"{WORKSPACE}/alerts/{{alert_id}}/test"): Row(Permission.EDIT, None, 201),
    ("POST", f"{WORKSPACE}/alerts/{{alert_id}}/secret"): Row(Permission.EDIT, None, 409),  # it sends mails
    ("GET", f"{WORKSPACE}/alerts/{{alert_id}}/deliveries"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/overview"): Row(Permission.VIEW, opens_transaction=True),
    ("GET", f"{WORKSPACE}/limits"): Row(Permission.VIEW),
    ("PUT", f"{WORKSPACE}/limit"): Row(Permission.MANAGE_WORKSPACE, lambda world: {"at_most": 20}),
    ("DELETE", f"{WORKSPACE}/limit"): Row(Permission.MANAGE_WORKSPACE),
    ("PUT", f"{WORKFLOW}/limit"): Row(Permission.EDIT, lambda world: {"at_most": 1}),
    ("DELETE", f"{WORKFLOW}/limit"): Row(Permission.EDIT),
    ("GET", "lanes"): Row("installation"),
    ("PUT", "lanes/{lane}/limit"): Row("installation", lambda world: {"at_most": 2}),
    ("DELETE", "lanes/{lane}/limit"): Row("installation"),
    ("GET", f"{WORKSPACE}/mailbox"): Row(Permission.VIEW, None, 404),  # only the demo's workspace has one
    ("GET", f"{WORKSPACE}/mailbox/{{mail_id}}"): Row(Permission.VIEW, None, 404),
}


def _alert(people: Cast) -> str:
    wanted = {**ALERT, "connection": "", "quiet_s": 300, "no_worker_s": 120, "enabled": True}
    made = create_alert(actor=SYSTEM, workspace=people.acme, workflow=None, channel="mail", wanted=wanted)
    return str(made.id)


def make_world() -> World:
    people = cast()
    workflow = create_workflow(actor=SYSTEM, workspace=people.acme, name="Invoices", graph=WAITING)
    version = publish(actor=SYSTEM, workflow=workflow, revision=1)
    run = Run.objects.get(id=start_run(actor=SYSTEM, workflow=workflow, run_input={}).run_id)
    step = StepRun.objects.get(run=run, path="pause")
    wait = Wait.objects.create(
        workspace=people.acme, run=run, step_run=step, kind="approval", attempt=1, status="answered", opened_at=now()
    )
    connection = create_connection(actor=SYSTEM, workspace=people.acme, name="api", kind="http", settings=HTTP)
    trigger = create_trigger(actor=SYSTEM, workflow=workflow, kind="schedule", name="nightly", settings=NIGHTLY)
    artifact = _artifact(people, step)
    bulk, _ = begin_bulk(
        actor=SYSTEM, workspace=people.acme, command_id=uuid4(), operation="cancel",
        selection=Selection(ids=[run.id]), pace=Pace(), request={},
    )  # fmt: skip
    names = {
        "workspace": people.acme.slug,
        "workflow_id": str(workflow.id),
        "number": str(version.number),
        "connection_id": str(connection.id),
        "mail_id": "1",
        "run_id": str(run.id),
        "path": step.path,
        "node": "n1",
        "wait_id": str(wait.id),
        "trigger_id": str(trigger.id),
        "alert_id": _alert(people),
        "token": "A" * 43,
        "artifact_id": str(artifact.id),
        "bulk_id": str(bulk.id),
        "lane": "browser",
        **_beside_runs(people),
    }
    return World(people, names)


def _beside_runs(people: Cast) -> dict[str, str]:
    """What the lists keep."""
    group = FailureGroup.objects.create(
        workspace=people.acme, fingerprint="0123456789abcdef", kind="python", code="broken", pattern="It broke.",
        first_at=now(), last_at=now(), seen_count=1,
    )  # fmt: skip
    view = create_view(actor=people.actor(Role.OWNER), workspace=people.acme, name="mine", query="", is_shared=True)
    return {"fingerprint": group.fingerprint, "view_id": str(view.id)}


def _artifact(people: Cast, step: StepRun) -> Artifact:
    """With its file."""
    file = ArtifactFile.objects.create(workspace=people.acme, sha256=b"\x01" * 32, size=2, touched_at=now())
    artifact = Artifact.objects.create(
        step_run=step, attempt=1, fence=1, name="a.txt", media_type="text/plain", file=file, at=now()
    )
    place = place_of(people.acme.id, b"\x01" * 32)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"ok")
    return artifact
