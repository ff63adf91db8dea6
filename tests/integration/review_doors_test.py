"""What a hostile reader found in the doors: HTTP answers, pages of lists, and the live hub."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection

from kit.ids import new_id
from kit.paging import encode_cursor
from runs.live import consumers
from runs.live.hub import Hub, ListWatcher, Watcher
from runs.selectors import runs as selectors
from runs.selectors.filters import Filters
from runs.selectors.lists import run_page
from teams.models import Role
from tests.engine import World
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


def url(people: Cast, tail: str) -> str:
    return f"/api/workspaces/{people.acme.slug}/{tail}"


def post(client: Any, address: str, body: Any) -> Any:
    return client.post(address, json.dumps(body), content_type="application/json")


def approval(world: World, *, count: int = 1) -> UUID:
    keys = ["P", "P2"][:count]
    version = world.draw(", ".join(f"S > {key}" for key in keys), configs={key: {"title": "ok?"} for key in keys})
    started = world.start(version)
    world.work()
    return started.run_id


def test_a_search_for_a_sign_that_is_a_digit_but_no_number_is_answered(people: Cast) -> None:
    answer = people.client(Role.VIEWER).get(url(people, "runs"), {"q": "\u00b2"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "cursor", [encode_cursor("x", "y"), encode_cursor(1, 2), encode_cursor({}, []), encode_cursor(2**70, 1)]
)
def test_a_cursor_of_another_list_is_refused_and_not_an_error_of_the_server(people: Cast, cursor: str) -> None:
    with World(workspace=people.acme) as world:
        run = approval(world)
        client = people.client(Role.VIEWER)
        client.raise_request_exception = False
        for tail in (f"runs/{run}/items/P", "waits"):
            assert client.get(url(people, tail), {"cursor": cursor}).status_code in (200, 400), tail


def test_a_run_cursor_is_refused_where_it_is_no_number_of_a_run(people: Cast) -> None:
    client = people.client(Role.VIEWER)
    client.raise_request_exception = False
    assert client.get(url(people, "runs"), {"cursor": encode_cursor(2**70)}).status_code in (200, 400)


def test_a_command_on_a_run_that_stays_locked_says_that_the_database_does_not_answer(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        run = approval(world)
        client = people.client(Role.OPERATOR)
        client.raise_request_exception = False
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        with world.connection.transaction():
            world.connection.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (run,))
            answer = post(client, url(people, f"runs/{run}/cancel"), {"command_id": str(new_id())})
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_a_command_id_used_for_one_question_does_not_pretend_to_answer_another(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        run = approval(world, count=2)
        client = people.client(Role.OWNER)
        waits = (found := client.get(url(people, "waits")).json())["items"]
        assert len(waits) == 2, (found, world.statuses(run))
        command = str(new_id())
        answers = [
            post(client, url(people, f"waits/{each['id']}/answer"), {"command_id": command, "decision": "approved"})
            for each in waits
        ]
        left = client.get(url(people, "waits")).json()["items"]
        assert [answer.status_code for answer in answers] == [200, 409]
        assert answers[1].json()["code"] == "command_id_taken"
        assert len(left) == 1


def test_the_progress_of_a_long_step_does_not_stop_on_its_page(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        run = approval(world)
        world.connection.execute(
            """INSERT INTO runs_checkpoint (run_day, step_run_id, attempt, fence, kind, key, value, at)
            SELECT s.run_day, s.id, 1, 1, CASE WHEN n < 700 THEN 'partial' ELSE 'progress' END, 'p' || n,
                '{"done":' || n || '}', statement_timestamp()
            FROM runs_steprun s, generate_series(1, 700) n WHERE s.run_id = %s AND s.path = 'P' ORDER BY n""",
            (run,),
        )
        step = people.client(Role.VIEWER).get(url(people, f"runs/{run}/steps/P")).json()
        assert step["checkpoints"][-1]["value"] == {"done": 700}


def test_the_list_of_runs_reads_one_failure_of_a_run_however_many_items_failed(people: Cast, monkeypatch: Any) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw(
            "S > E[X] > O", configs={"E": {"items": list(range(60)), "window": 60}, "X": {"message": "no"}}
        )
        world.start(version)
        world.work()
        read: list[Any] = []
        real = selectors.decoded
        monkeypatch.setattr(selectors, "decoded", lambda text: read.append(text) or real(text))
        page = run_page(people.actor(Role.VIEWER), people.acme, filters=Filters(), limit=10)
        assert page["items"][0]["failed_step"]["path"]
        assert len(read) == 2  # the run's own, and that of the step which stands for all


def test_the_same_idempotency_key_answers_the_same_run_also_after_the_workflow_asks_for_more(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw("S > A", configs={"A": {"value": 1}})
        client = people.client(Role.OPERATOR)
        address = url(people, f"workflows/{version.workflow_id}/runs")
        body = {"input": {}, "idempotency_key": "order 7"}
        first = post(client, address, body)
        schema = {"type": "object", "required": ["total"]}
        graph = json.loads(version.graph)
        next(node for node in graph["nodes"] if node["kind"] == "start")["config"] = {"input_schema": schema}
        type(version).objects.create(workflow=version.workflow, number=2, graph=json.dumps(graph))
        again = post(client, address, body)
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json()["id"] == first.json()["id"]


@pytest.mark.parametrize(
    "rules", [{"$ref": "#"}, {"properties": {"a": {"pattern": "^(a+)+$"}}}], ids=["itself", "pattern"]
)
def test_a_hostile_input_schema_is_refused_and_holds_nobody_up(people: Cast, rules: dict[str, Any]) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw("S > A", configs={"A": {"value": 1}})
        graph = json.loads(version.graph)
        next(node for node in graph["nodes"] if node["kind"] == "start")["config"] = {"input_schema": rules}
        type(version).objects.create(workflow=version.workflow, number=2, graph=json.dumps(graph))
        address = url(people, f"workflows/{version.workflow_id}/runs")
        answer = post(people.client(Role.OPERATOR), address, {"input": {"a": "a" * 40 + "b"}})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_run_input")


def test_no_step_has_a_nul_character_in_its_path(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        run = approval(world)
        client = people.client(Role.OWNER)
        for tail in ("steps/P%00", "steps/P%00/logs", "items/P%00"):
            assert client.get(url(people, f"runs/{run}/{tail}")).status_code == 404, tail
        body = {"command_id": str(new_id()), "generation": 1, "decision": "skip"}
        assert post(client, url(people, f"runs/{run}/steps/P%00/decide"), body).status_code == 404


# ---------------------------------------------------------------------- live


async def test_a_socket_that_is_gone_costs_the_others_nothing() -> None:
    hub, got = Hub(), []
    run = new_id()

    async def gone(message: Any) -> None:
        raise RuntimeError("this socket is closed")

    async def good(message: Any) -> None:
        got.append(message)

    class Answer:
        def __init__(self, rows: list[Any]) -> None:
            self.rows = rows

        async def fetchall(self) -> list[Any]:
            return self.rows

    class Database:
        closed = False

        async def execute(self, statement: str, values: Any) -> Answer:
            now = datetime.now(UTC)
            if "FROM runs_run" in statement:
                return Answer([(run, 1, now.date())])
            return Answer([(1, "run.running", now, None, None, "Ana", "{}")])

    hub._connection = Database()  # type: ignore[assignment]
    watchers = [Watcher(run, 0, gone), Watcher(run, 0, good), Watcher(run, 0, gone)]
    hub._watchers[run] = dict.fromkeys(watchers)  # type: ignore[assignment]  # in this order
    with suppress(RuntimeError):
        await hub._answer([run])
    assert len(got) == 1


async def test_a_list_is_looked_at_again_where_its_hint_was_lost() -> None:
    hub, looked = Hub(), []

    async def tell(changed: set[UUID]) -> None:
        looked.append(changed)

    hub.hears_hints = True
    hub.watch_list(ListWatcher(new_id(), tell))
    task = asyncio.create_task(hub._lists_for_ever())
    await asyncio.sleep(3.0)
    task.cancel()
    assert looked


async def test_access_goes_on_being_checked_after_the_database_was_away(monkeypatch: Any) -> None:
    asked: list[int] = []

    def still_allowed(*_: Any) -> bool:
        asked.append(1)
        if len(asked) == 1:
            raise OperationalError("the database is restarting")
        return False

    monkeypatch.setattr(consumers, "CHECK_ACCESS_S", 0.05)
    monkeypatch.setattr(consumers, "_still_allowed", still_allowed)
    consumer = consumers.LiveConsumer()
    consumer.scope, consumer.watchers, consumer.lists, consumer.user_id = {}, {}, {}, new_id()
    closed: list[int] = []

    async def close(code: int) -> None:
        closed.append(code)

    monkeypatch.setattr(consumer, "close", close)
    task = asyncio.create_task(consumer._check_access_for_ever())
    await asyncio.wait([task], timeout=2)
    task.cancel()
    if task.done() and not task.cancelled():
        task.exception()
    assert closed == [consumers.NO_ACCESS]
