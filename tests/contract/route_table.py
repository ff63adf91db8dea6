"""Every route of the API, who may use it, and a body that it takes. A route without a row here fails
tests/contract/test_every_route.py.

Bodies are made from the `World`, which holds one of each thing in Acme. The permission is the one that
docs/architecture.md names, not what the code says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from builder.connections.services import create_connection
from builder.workflows.services import create_workflow, publish
from teams.access import SYSTEM, Permission
from tests.people import Cast, cast

Who = Literal["anyone", "signed in"] | Permission


@dataclass(frozen=True)
class World:
    people: Cast
    names: dict[str, str]  # parameter of an address -> value in Acme


@dataclass(frozen=True)
class Row:
    who: Who
    body: Callable[[World], dict[str, Any]] | None = None  # None: the route takes none
    answers: int = 200


GRAPH = {"schema": 1, "nodes": [{"id": "n1", "key": "start", "kind": "start"}], "edges": []}
HTTP = {"base_url": "https://example.com", "token": "a-token-of-the-tests"}

WORKSPACE = "workspaces/{workspace}"
WORKFLOW = f"{WORKSPACE}/workflows/{{workflow_id}}"
CONNECTION = f"{WORKSPACE}/connections/{{connection_id}}"

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
    ("POST", f"{WORKFLOW}/publish"): Row(Permission.EDIT, lambda world: {"revision": 1, "note": "again"}, 201),
    ("GET", f"{WORKFLOW}/versions"): Row(Permission.VIEW),
    ("GET", f"{WORKFLOW}/versions/{{number}}"): Row(Permission.VIEW),
    ("GET", f"{WORKSPACE}/mailbox"): Row(Permission.VIEW, None, 404),  # only the demo's workspace has one
    ("GET", f"{WORKSPACE}/mailbox/{{mail_id}}"): Row(Permission.VIEW, None, 404),
}


def make_world() -> World:
    people = cast()
    workflow = create_workflow(actor=SYSTEM, workspace=people.acme, name="Invoices", graph=GRAPH)
    version = publish(actor=SYSTEM, workflow=workflow, revision=1)
    connection = create_connection(actor=SYSTEM, workspace=people.acme, name="api", kind="http", settings=HTTP)
    names = {
        "workspace": people.acme.slug,
        "workflow_id": str(workflow.id),
        "number": str(version.number),
        "connection_id": str(connection.id),
        "mail_id": "1",
    }
    return World(people, names)
