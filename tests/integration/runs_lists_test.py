"""The runs list: each filter, pages that hold beside many runs, counts that say how far they went; labels."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Run, RunLabel
from runs.selectors import lists
from runs.selectors.filters import Filters
from runs.selectors.lists import run_count, run_page
from sample.many_runs import forget_many_runs, make_many_runs
from teams.access import SYSTEM
from teams.models import AuditRecord, Role, Workspace
from teams.services import create_workspace
from tests.bulk import BROKEN
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 4_000


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def many(people: Cast) -> Iterator[Workspace]:
    """4,000 runs that ended, 200 of them failed, 4 begun by Milo, 8 with a label."""
    space = create_workspace(actor=SYSTEM, name="Seeded", slug="many", owner=people.members[Role.OWNER])
    make_many_runs(space, MANY)
    yield space
    forget_many_runs(space)


def numbers(space: Workspace, **asked: Any) -> list[int]:
    """Of all pages, one after the other; a page that ended because enough was looked at is gone on from."""
    found: list[int] = []
    cursor = ""
    while True:
        page = run_page(SYSTEM, space, filters=Filters(**asked), limit=50, cursor=cursor)
        found += [row["number"] for row in page["items"]]
        if page["next"] is None:
            return found
        cursor = page["next"]


def straight(space: Workspace, **wanted: Any) -> list[int]:
    return list(Run.objects.filter(workspace=space, **wanted).order_by("-number").values_list("number", flat=True))


def test_each_filter_finds_what_a_scan_of_everything_finds(many: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "WINDOW", 1_000)
    runs = Run.objects.filter(workspace=many).order_by("number")
    middle = runs[MANY // 2].created_at
    ledger = runs.filter(workflow__name="Nightly ledger")[0].workflow_id
    labelled = list(RunLabel.objects.filter(workspace=many).values_list("run_id", flat=True))
    for asked, wanted in (
        ({"status": ["failed", "cancelled"]}, {"status__in": ["failed", "cancelled"]}),
        ({"status": ["succeeded"], "workflow": ledger}, {"status": "succeeded", "workflow_id": ledger}),
        ({"status": ["failed"], "workflow": ledger}, {"status": "failed", "workflow_id": ledger}),
        ({"started_before": middle, "status": ["failed"]}, {"created_at__lt": middle, "status": "failed"}),
        ({"started_after": middle, "starter": "Milo"}, {"created_at__gte": middle, "actor": "Milo"}),
        ({"label": ["month end"]}, {"id__in": labelled}),
        ({"label": ["month end"], "status": ["failed"]}, {"id__in": labelled, "status": "failed"}),
        ({"q": "ledger", "status": ["cancelled"]}, {"workflow_id": ledger, "status": "cancelled"}),
        ({"trigger": ["manual"], "starter": "Milo"}, {"trigger": "manual", "actor": "Milo"}),
        ({"version": 2}, {"version__number": 2}),
    ):
        assert numbers(many, **asked) == straight(many, **wanted), asked
    assert numbers(many, q=f"#{runs[7].number}") == [runs[7].number]
    assert numbers(many, q="no workflow is called so") == []
    assert numbers(many, started_after=runs.reverse()[0].created_at + timedelta(hours=9)) == []
    long = [run.number for run in runs.reverse() if (run.finished_at - run.created_at).total_seconds() >= 600]  # type: ignore[operator]
    assert numbers(many, longer_than_s=600) == long != []
    assert len(numbers(many, shorter_than_s=600)) == MANY - len(long)


def test_a_page_and_a_count_say_how_far_they_looked(many: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "WINDOW", 2_500)
    page = run_page(SYSTEM, many, filters=Filters(starter="Milo"), limit=50)
    newest = Run.objects.filter(workspace=many).order_by("-number")
    seen = [run.number for run in newest[:2_500] if run.actor == "Milo"]
    assert [row["number"] for row in page["items"]] == seen
    assert (len(seen), page["looked_back_to"]) == (2, newest[2_499].created_at)
    assert run_count(SYSTEM, many, filters=Filters(starter="Milo")) == {"count": 2, "is_exact": False}
    assert run_count(SYSTEM, many, filters=Filters(status=["failed"])) == {"count": 200, "is_exact": True}
    assert run_count(SYSTEM, many, filters=Filters()) == {"count": 1_000, "is_exact": False}
    full = run_page(SYSTEM, many, filters=Filters(), limit=50)
    assert (len(full["items"]), full["looked_back_to"]) == (50, None)


ASKED: dict[str, dict[str, Any]] = {
    "everything": {},
    "failed": {"status": ["failed"]},
    "two statuses": {"status": ["failed", "cancelled"]},
    "a rare starter": {"starter": "Milo"},
    "a text": {"q": "ledger"},
    "a number": {"q": "17"},
    "a label": {"label": ["month end"]},
    "long ones": {"longer_than_s": 1e6},
    "an error": {"error": "no supplier"},
    "a step": {"failed_step": "parse"},
    "a version": {"version": 7},
    "those that wait": {"waits": "person"},
}


def test_no_page_and_no_count_reads_more_than_its_window(many: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "WINDOW", 1_000)
    oldest = Run.objects.filter(workspace=many).order_by("number")[10].created_at
    read = {name: _most_read(many, asked) for name, asked in {**ASKED, "old": {"started_before": oldest}}.items()}
    assert {name: most for name, most in read.items() if most > 1_001} == {}
    assert read["old"] <= 300


def _most_read(space: Workspace, asked: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as said:
        run_page(SYSTEM, space, filters=Filters(**asked), limit=50)
        run_count(SYSTEM, space, filters=Filters(**asked))
    return max((rows for query in said.captured_queries for rows in _rows_read(query["sql"])), default=0)


def _rows_read(statement: str) -> Iterator[int]:
    """Of each scan of runs or what stands beside them: the rows that it met, those that it threw away included."""
    if not statement.startswith("SELECT"):
        return
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")  # so few rows are read whole sooner than by an index
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement)
        plan = cursor.fetchone()[0]
        cursor.execute("RESET enable_seqscan")
    nodes = [(json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if str(node.get("Relation Name")).startswith("runs_run"):
            thrown = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
            yield int((node["Actual Rows"] + thrown) * node["Actual Loops"])


# ---------------------------------------------------------------------- over HTTP


def put(people: Cast, role: Role | None, address: str, **body: Any) -> tuple[int, Any]:
    url = f"/api/workspaces/{people.acme.slug}/{address}"
    answer = people.client(role).put(url, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def get(people: Cast, address: str, **query: Any) -> Any:
    answer = people.client(Role.VIEWER).get(f"/api/workspaces/{people.acme.slug}/{address}", query)
    return answer.json()


def test_labels_are_put_on_found_by_and_taken_away(people: Cast, hands: list[Hand]) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw("S > A")
        first, second = (world.start(version).run_id for _ in range(2))
        hands[0].finish(hands[0].take(), BROKEN)
        status, body = put(people, Role.OPERATOR, f"runs/{first}/labels", add=[" month  end", "to check", "to check"])
        assert (status, body) == (200, {"labels": ["month end", "to check"]})
        put(people, Role.OPERATOR, f"runs/{second}/labels", add=["month end"])
        assert [row["labels"] for row in get(people, "runs")["items"]] == [["month end"], ["month end", "to check"]]
        assert [row["id"] for row in get(people, "runs", label="month end,to check")["items"]] == [str(first)]
        assert get(people, "runs/count", label="month end") == {"count": 2, "is_exact": True}
        assert get(people, "labels") == {"items": ["month end", "to check"]}
        put(people, Role.OPERATOR, f"runs/{first}/labels", remove=["month end"])
        assert get(people, "runs", label="month end,to check")["items"] == []
        assert AuditRecord.objects.filter(action="run.labels").count() == 3
        put(people, Role.OPERATOR, f"runs/{first}/labels", remove=["month end"])
        assert AuditRecord.objects.filter(action="run.labels").count() == 3, "nothing changed"


def test_a_label_that_cannot_be_changes_nothing(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        run_id = world.start(world.draw("S > A")).run_id
    for body, code in (
        ({"add": ["a,b"]}, "bad_label"),
        ({"add": ["x" * 51]}, "bad_label"),
        ({"add": ["  "]}, "bad_input"),
        ({"add": ["a \u0007 bell"]}, "bad_label"),
        ({"add": [f"label {at}" for at in range(21)]}, "bad_input"),
        ({"labels": ["a"]}, "bad_input"),
    ):
        status, problem = put(people, Role.OPERATOR, f"runs/{run_id}/labels", **body)
        assert (status, problem["code"]) == (400, code), body
    put(people, Role.OPERATOR, f"runs/{run_id}/labels", add=[f"label {at}" for at in range(20)])
    status, problem = put(people, Role.OPERATOR, f"runs/{run_id}/labels", add=["one more"])
    assert (status, problem["code"]) == (400, "too_many_labels")
    assert put(people, Role.VIEWER, f"runs/{run_id}/labels", add=["a"])[0] == 403
    assert put(people, None, f"runs/{run_id}/labels", add=["a"])[0] == 404
    assert RunLabel.objects.filter(run_id=run_id).count() == 20


def test_labels_go_with_their_run(many: Workspace) -> None:
    assert RunLabel.objects.filter(workspace=many).exists()
    forget_many_runs(many)
    assert not RunLabel.objects.filter(workspace=many).exists()


@pytest.mark.parametrize(
    "query",
    [
        {"trigger": "by hand"},
        {"version": "0"},
        {"longer_than_s": "-1"},
        {"longer_than_s": "nan"},
        {"status": "broken"},
        {"nothing": "1"},
    ],
)
def test_a_filter_that_cannot_be_is_refused(people: Cast, query: dict[str, str]) -> None:
    for address in ("runs", "runs/count"):
        assert get(people, address, **query)["code"] == "bad_input"


def test_the_command_seeds_only_workspaces_of_its_own(people: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    owner = people.members[Role.OWNER].email
    with pytest.raises(CommandError, match="not a workspace"):
        call_command("seed_runs", people.acme.slug, runs=10)
    with pytest.raises(CommandError, match="--owner"):
        call_command("seed_runs", "many", runs=10)
    call_command("seed_runs", "many", runs=200, owner=owner)
    call_command("seed_runs", "many", runs=100)
    space = Workspace.objects.get(slug="many")
    assert Run.objects.filter(workspace=space).count() == 300
    call_command("seed_runs", "many", forget=True)
    assert not Run.objects.filter(workspace=space).exists()
