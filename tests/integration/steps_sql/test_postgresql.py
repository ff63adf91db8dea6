import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from steps.base import StepFailure
from steps.sql import postgresql
from tests.step_context import FakeContext, run_step


@pytest.fixture
def database(servers: Any) -> Iterator[str]:
    """The address of a fresh database with a role of its own, as the sample's is."""
    name = f"steps_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(servers.postgres.url("postgres"), autocommit=True) as admin:
        admin.execute(f"create role {name} login password 's3cret-password'")
        admin.execute(f"create database {name} owner {name}")
        yield servers.postgres.url(name, user=name, password="s3cret-password")
        admin.execute(f"drop database {name} with (force)")
        admin.execute(f"drop role {name}")


@pytest.fixture
def ctx(tmp_path: Path, database: str) -> FakeContext:
    with psycopg.connect(database) as made:
        made.execute(
            "create table item (id int primary key, name text unique, price numeric(12, 2), tags text[], more jsonb)"
        )
        made.execute("insert into item values (1, 'desk', 412, '{a,b}', '{\"w\": 1}'), (2, 'lamp', 38.5, null, null)")
    address = urlsplit(database)
    return FakeContext(
        storage_root=tmp_path,
        outbound_allow=frozenset({f"{address.hostname}:{address.port}"}),
        connections={"shop": {"engine": "postgresql", "url": database}},
    )


def ask(ctx: FakeContext, statement: str, **config: Any) -> Any:
    return run_step(ctx, "sql", connection="shop", statement=statement, **config)


def failure_of(ctx: FakeContext, statement: str, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        ask(ctx, statement, **config)
    return failure.value


def test_rows_come_as_objects(ctx: FakeContext) -> None:
    answer = ask(ctx, "select *, price / 3 as third from item where id = :id order by id", parameters={"id": 1})
    assert answer["rows"] == [
        {"id": 1, "name": "desk", "price": 412.0, "tags": ["a", "b"], "more": {"w": 1}, "third": "137.3333333333333333"}
    ]
    assert answer["count"] == 1


def test_a_value_is_never_part_of_the_statement(ctx: FakeContext) -> None:
    evil = "x'; drop table item; --"
    assert ask(ctx, "select :v::text as v, '100%' as p", parameters={"v": evil})["rows"] == [{"v": evil, "p": "100%"}]
    assert ask(ctx, "select count(*) as n from item")["rows"] == [{"n": 2}]


def test_lists_go_in_as_arrays_and_objects_as_json(ctx: FakeContext) -> None:
    assert ask(ctx, "select name from item where id = any(:ids)", parameters={"ids": [2, 9]})["rows"] == [
        {"name": "lamp"}
    ]
    rows = ask(
        ctx, "select x.a from jsonb_to_recordset(:rows) as x(a int) where :one->>'k' = 'v'",
        parameters={"rows": [{"a": 1}, {"a": 2}], "one": {"k": "v"}},
    )["rows"]  # fmt: skip
    assert rows == [{"a": 1}, {"a": 2}]


def test_reading_cannot_write(ctx: FakeContext) -> None:
    for statement in (
        "insert into item (id) values (9)",
        "drop table item",
        "with x as (delete from item returning 1) select * from x",
    ):
        assert failure_of(ctx, statement).code == "read_only"
    assert ask(ctx, "select count(*) as n from item")["rows"] == [{"n": 2}]


def test_a_statement_without_rows_reads_nothing(ctx: FakeContext) -> None:
    assert ask(ctx, "set local timezone = 'UTC'") == {"rows": [], "columns": [], "count": 0}


def test_a_change_is_committed_and_counted(ctx: FakeContext) -> None:
    assert ask(ctx, "update item set price = price * 2", read_only=False)["count"] == 2
    assert ask(ctx, "select price from item order by id")["rows"] == [{"price": 824.0}, {"price": 77.0}]
    answer = ask(ctx, "insert into item (id) values (:id) returning id", parameters={"id": 3}, read_only=False)
    assert (answer["rows"], answer["count"]) == ([{"id": 3}], 1)


def test_a_change_that_fails_leaves_nothing(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "insert into item (id, name) values (3, 'chair'), (4, 'desk')", read_only=False)
    assert (failure.code, failure.retryable, failure.data["sqlstate"]) == ("sql_failed", False, "23505")
    assert (
        failure_of(ctx, "update item set price = 0 returning id", read_only=False, row_limit=1).code == "too_many_rows"
    )
    assert ask(ctx, "select sum(price) as total from item")["rows"] == [{"total": 450.5}]


def test_the_idempotency_key_is_always_there(ctx: FakeContext) -> None:
    ask(ctx, "create table done (key text primary key)", read_only=False)
    for attempt in (ctx, ctx.next_attempt()):
        statement = "insert into done values (:idempotency_key) on conflict do nothing"
        ask(attempt, statement, read_only=False, repeatable=True)
    assert ask(ctx, "select key from done")["rows"] == [{"key": ctx.idempotency_key}]


def test_a_million_rows_are_stopped_at_the_limit(ctx: FakeContext) -> None:
    started = time.monotonic()
    assert failure_of(ctx, "select generate_series(1, 100000000) as n", row_limit=10).code == "too_many_rows"
    assert time.monotonic() - started < 3


def test_a_statement_that_takes_too_long_is_stopped(ctx: FakeContext) -> None:
    started = time.monotonic()
    failure = failure_of(ctx, "select pg_sleep(30)", timeout_s=0.3)
    assert (failure.code, failure.retryable) == ("timed_out", True)
    assert time.monotonic() - started < 3


def test_an_outcome_that_nobody_knows_is_not_retried(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks while the commit is on its way: it may have happened."""

    def lost(connection: Any) -> None:
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "commit", lost)
        once = failure_of(ctx, "update item set price = 0", read_only=False)
        repeatable = failure_of(ctx, "update item set price = 0", read_only=False, repeatable=True)
    assert (once.code, once.retryable) == ("outcome_unknown", False)
    assert (repeatable.code, repeatable.retryable) == ("sql_failed", True)


def test_a_backend_that_is_killed_may_be_asked_again(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "select pg_terminate_backend(pg_backend_pid())")
    assert failure.retryable


def test_a_database_of_this_machine_is_refused_unless_allowed(ctx: FakeContext) -> None:
    ctx.outbound_allow = frozenset()
    assert failure_of(ctx, "select 1").code == "outbound_refused"


def test_a_wrong_password_fails_for_good_and_is_not_told(ctx: FakeContext) -> None:
    url = ctx.connections["shop"]["url"].replace("s3cret-password", "s3cret-but-wrong")
    ctx.connections = {"shop": {"engine": "postgresql", "url": url}}
    failure = failure_of(ctx, "select 1")
    assert failure.code == "connection_failed"
    assert "s3cret" not in failure.message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@/db?host=/var/run/postgresql", "postgresql://u@h1,h2/db", "postgresql://u@h/db?passfile=/etc/passwd",
        "postgresql://u@h/db?hostaddr=127.0.0.1", "postgresql://u@h/db?sslkey=/etc/key", "postgresql://u@h/db?options=-cx",
        "nonsense", "postgresql://u@h/db?service=x",
    ],
)  # fmt: skip
def test_an_address_that_reaches_past_the_guard_is_refused(ctx: FakeContext, url: str) -> None:
    ctx.connections = {"shop": {"engine": "postgresql", "url": url}}
    assert failure_of(ctx, "select 1").code == "bad_connection"


def test_the_connection_is_made_to_the_judged_address(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def connect(**parts: Any) -> None:
        given.update(parts)
        raise psycopg.OperationalError("stop here")

    monkeypatch.setattr(psycopg, "connect", connect)
    monkeypatch.setattr(postgresql, "check_address", lambda host, port, allow: ("8.8.8.8", "1.1.1.1"))
    ctx.connections = {"shop": {"host": "db.example.com", "port": 6000, "database": "shop", "tls": "verify-full"}}
    assert failure_of(ctx, "select 1").code == "connection_failed"
    assert (given["host"], given["hostaddr"], given["port"]) == (
        "db.example.com,db.example.com",
        "8.8.8.8,1.1.1.1",
        6000,
    )
    assert given["sslmode"] == "verify-full"
    assert Path(given["sslrootcert"]).is_file()
