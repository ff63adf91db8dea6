import json
import threading

import pytest
from django.db import IntegrityError, close_old_connections, connection, transaction

from builder.graph.errors import GraphError
from builder.workflows import selectors
from builder.workflows.errors import DraftConflict, DraftHasProblems, WorkflowArchived, WorkflowNotFound
from builder.workflows.models import Draft, Version, Workflow
from builder.workflows.services import (
    archive_workflow,
    change_workflow,
    create_workflow,
    publish,
    rename_workflow,
    save_draft,
)
from kit.errors import Forbidden, NotFound
from teams.access import SYSTEM, person
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


def graph(*nodes: dict[str, object], **more: object) -> dict[str, object]:
    start = {"id": "n1", "key": "start", "kind": "start"}
    return {"schema": 1, "nodes": [start, *nodes], "edges": [], **more}


def made(people: Cast, **more: object) -> Workflow:
    return create_workflow(actor=people.actor(Role.EDITOR), workspace=people.acme, name="Invoices", **more)


def broken() -> dict[str, object]:
    """Can be read, and has an error: an http_request that names a connection which is not there."""
    node = {"id": "n2", "key": "fetch", "kind": "http_request", "config": {"url": "/x", "connection": "nowhere"}}
    return graph(node)


def test_the_stranger_makes_and_changes_nothing(people: Cast) -> None:
    workflow = made(people)
    stranger = person(people.stranger)
    for act in (
        lambda: create_workflow(actor=stranger, workspace=people.acme, name="x"),
        lambda: rename_workflow(actor=stranger, workflow=workflow, name="x"),
        lambda: archive_workflow(actor=stranger, workflow=workflow),
        lambda: save_draft(actor=stranger, workflow=workflow, revision=1, graph=graph()),
        lambda: publish(actor=stranger, workflow=workflow, revision=1),
    ):
        with pytest.raises(NotFound):
            act()
    with pytest.raises(WorkflowNotFound):
        selectors.workflow_for(stranger, people.acme, workflow.id)
    assert not workflow.versions.exists()


def test_an_operator_may_not_edit(people: Cast) -> None:
    workflow = made(people)
    with pytest.raises(Forbidden):
        save_draft(actor=people.actor(Role.OPERATOR), workflow=workflow, revision=1, graph=graph())
    assert Draft.objects.get(workflow=workflow).revision == 1


def test_a_new_workflow_begins_with_a_start_node(people: Cast) -> None:
    draft = selectors.draft_of(made(people))
    assert [node["kind"] for node in draft["graph"]["nodes"]] == ["start"]
    assert (draft["revision"], draft["updated_by"]) == (1, "Editor")


def test_a_save_raises_the_revision_and_is_recorded(people: Cast) -> None:
    workflow = made(people)
    saved = save_draft(actor=people.actor(Role.ADMIN), workflow=workflow, revision=1, graph=graph())
    assert saved.revision == 2
    record = AuditRecord.objects.get(action="draft.save")
    assert (record.actor_name, record.target_id, record.data) == (
        "Admin",
        str(workflow.id),
        {"revision": 2, "nodes": 1},
    )


def test_a_second_tab_cannot_overwrite_and_gets_what_is_there(people: Cast) -> None:
    workflow = made(people)
    save_draft(actor=people.actor(Role.ADMIN), workflow=workflow, revision=1, graph=graph(note="first tab"))
    with pytest.raises(DraftConflict) as refusal:
        save_draft(actor=people.actor(Role.EDITOR), workflow=workflow, revision=1, graph=graph(note="second tab"))
    assert refusal.value.data["revision"] == 2
    assert refusal.value.data["graph"]["note"] == "first tab"
    assert selectors.draft_of(workflow)["graph"]["note"] == "first tab"


def test_what_a_draft_holds_comes_back_equal(people: Cast) -> None:
    workflow = made(people)
    config = {
        "big": 2**63 - 1,
        "small": -(2**63),
        "unsigned": 2**64 - 1,
        "": "empty name",
        "float": 1.5,
        "text": "ö 😀",
    }
    node = {"id": "n2", "key": "set", "kind": "set_fields", "config": config, "later": {"field": [1]}}
    save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph=graph(node, later="kept"))
    found = selectors.draft_of(workflow)["graph"]
    assert json.dumps(found["nodes"][1]["config"]) == json.dumps(config)
    assert found["nodes"][1]["later"] == {"field": [1]}
    assert found["later"] == "kept"


@pytest.mark.parametrize("nonsense", [None, [], "x", {"nodes": 1}, {"nodes": [{"id": 1}]}, {"schema": 99}])
def test_what_is_no_graph_is_refused_and_changes_nothing(people: Cast, nonsense: object) -> None:
    workflow = made(people)
    with pytest.raises(GraphError) as refusal:
        save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph=nonsense)
    assert all(each["field"].split(".")[0] == "graph" for each in refusal.value.data["fields"])
    assert Draft.objects.get(workflow=workflow).revision == 1


def test_an_unfinished_draft_is_saved_with_its_problems_and_not_published(people: Cast) -> None:
    workflow = made(people)
    save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph=broken())
    problems = selectors.draft_of(workflow)["problems"]
    assert ("connection_unknown", "error", "n2") in [
        (each["code"], each["severity"], each["node"]) for each in problems
    ]

    recorded = AuditRecord.objects.count()
    with pytest.raises(DraftHasProblems) as refusal:
        publish(actor=SYSTEM, workflow=workflow, revision=2)
    assert refusal.value.data["problems"] == problems
    assert not Version.objects.filter(workflow=workflow).exists()
    assert AuditRecord.objects.count() == recorded


def test_versions_are_numbered_from_one_and_the_newest_is_live(people: Cast) -> None:
    workflow = made(people)
    assert selectors.live_version(workflow) is None
    editor = people.actor(Role.EDITOR)
    first = publish(actor=editor, workflow=workflow, revision=1, note="first")
    save_draft(actor=editor, workflow=workflow, revision=1, graph=graph(note="second"))
    second = publish(actor=editor, workflow=workflow, revision=2)
    assert (first.number, second.number) == (1, 2)
    assert selectors.live_version(workflow) == second
    assert json.loads(selectors.version_for(workflow, 1).graph).get("note") is None
    assert json.loads(selectors.version_for(workflow, 2).graph)["note"] == "second"
    page = selectors.version_page(workflow, limit=1)
    assert [each["number"] for each in page.items] == [2]
    page = selectors.version_page(workflow, limit=1, cursor=page.next or "")
    assert ([each["number"] for each in page.items], page.next) == ([1], None)


def test_a_draft_that_moved_on_is_not_published(people: Cast) -> None:
    workflow = made(people)
    save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph=graph())
    with pytest.raises(DraftConflict):
        publish(actor=SYSTEM, workflow=workflow, revision=1)


@pytest.mark.parametrize("column", ["graph", "note", "number", "published_at"])
def test_the_database_refuses_to_change_a_version(people: Cast, column: str) -> None:
    version = publish(actor=people.actor(Role.EDITOR), workflow=made(people), revision=1)
    value = {"number": "7", "published_at": "now()"}.get(column, "'changed'")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL pawl.maintenance = 'off'")
        cursor.execute(
            "SET CONSTRAINTS ALL IMMEDIATE"
        )  # TRUNCATE refuses a table with checks to come, before any trigger
        for statement in (
            f"UPDATE workflows_version SET {column} = {value}",
            "DELETE FROM workflows_version",
            "TRUNCATE workflows_version CASCADE",
        ):
            with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
                cursor.execute(statement)
    version.refresh_from_db()
    assert version.number == 1


def test_a_version_outlives_its_publisher(people: Cast) -> None:
    version = publish(actor=people.actor(Role.EDITOR), workflow=made(people), revision=1)
    people.members[Role.EDITOR].delete()
    version.refresh_from_db()
    assert version.published_by is None


def test_an_archived_workflow_is_out_of_the_list_and_cannot_be_changed(people: Cast) -> None:
    workflow = made(people)
    editor = people.actor(Role.EDITOR)
    archive_workflow(actor=editor, workflow=workflow)
    with pytest.raises(WorkflowArchived):
        save_draft(actor=editor, workflow=workflow, revision=1, graph=graph())
    with pytest.raises(WorkflowArchived):
        publish(actor=editor, workflow=workflow, revision=1)
    assert selectors.workflow_page(editor, people.acme, limit=10).items == []
    assert len(selectors.workflow_page(editor, people.acme, limit=10, archived=True).items) == 1
    change_workflow(actor=editor, workflow=workflow, name="Back", archived=False)
    assert [each["name"] for each in selectors.workflow_page(editor, people.acme, limit=10).items] == ["Back"]
    actions = AuditRecord.objects.filter(target_id=str(workflow.id)).order_by("id").values_list("action", flat=True)
    assert list(actions) == ["workflow.create", "workflow.archive", "workflow.rename", "workflow.unarchive"]


def test_the_last_changed_comes_first_and_pages_meet(people: Cast) -> None:
    editor = people.actor(Role.EDITOR)
    names = [f"w{index}" for index in range(5)]
    rows = [create_workflow(actor=editor, workspace=people.acme, name=name) for name in names]
    save_draft(actor=editor, workflow=rows[1], revision=1, graph=graph())
    seen, cursor = [], ""
    while True:
        page = selectors.workflow_page(editor, people.acme, limit=2, cursor=cursor)
        seen += [each["name"] for each in page.items]
        if page.next is None:
            break
        cursor = page.next
    assert seen == ["w1", "w4", "w3", "w2", "w0"]
    assert [each["name"] for each in selectors.workflow_page(editor, people.acme, limit=9, q="W3").items] == ["w3"]


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_once_one_wins(people: Cast) -> None:
    workflow = made(people)
    outcomes: list[str] = []
    gate = threading.Barrier(2)

    def save(name: str) -> None:
        gate.wait(10)
        try:
            save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph=graph(note=name))
            outcomes.append(name)
        except DraftConflict:
            outcomes.append("conflict")
        finally:
            close_old_connections()
            connection.close()

    threads = [threading.Thread(target=save, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) in (["a", "conflict"], ["b", "conflict"])
    (winner,) = set(outcomes) - {"conflict"}
    assert selectors.draft_of(workflow)["graph"]["note"] == winner
