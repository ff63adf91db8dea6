import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from steps.base import StepFailure
from tests.step_context import FakeContext, run_step


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    root = tmp_path / "storage"
    root.mkdir()
    with closing(sqlite3.connect(root / "shop.sqlite3")) as made, made:
        made.execute("create table item (id integer primary key, name text unique, price real, picture blob)")
        made.executemany(
            "insert into item values (?, ?, ?, ?)", [(1, "desk", 412.0, b"\x00\xff"), (2, "lamp", 38.5, None)]
        )
    return FakeContext(storage_root=root, connections={"shop": {"engine": "sqlite", "path": "shop.sqlite3"}})


def ask(ctx: FakeContext, statement: str, **config: Any) -> Any:
    return run_step(ctx, "sql", connection="shop", statement=statement, **config)


def failure_of(ctx: FakeContext, statement: str, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        ask(ctx, statement, **config)
    return failure.value


def test_rows_come_as_objects(ctx: FakeContext) -> None:
    answer = ask(ctx, "select * from item where id = :id", parameters={"id": 1})
    assert answer == {
        "rows": [{"id": 1, "name": "desk", "price": 412.0, "picture": "AP8="}],
        "columns": ["id", "name", "price", "picture"],
        "count": 1,
    }


def test_a_value_is_never_part_of_the_statement(ctx: FakeContext) -> None:
    evil = "x'; drop table item; --"
    assert ask(ctx, "select :v as v", parameters={"v": evil})["rows"] == [{"v": evil}]
    assert ask(ctx, "select count(*) as n from item")["rows"] == [{"n": 2}]


def test_a_list_goes_in_as_json(ctx: FakeContext) -> None:
    answer = ask(
        ctx, "select name from item where id in (select value from json_each(:ids))", parameters={"ids": [2, 9]}
    )
    assert answer["rows"] == [{"name": "lamp"}]


def test_reading_cannot_write(ctx: FakeContext) -> None:
    for statement in ("insert into item (id) values (9)", "drop table item", "pragma user_version = 5", "vacuum"):
        assert failure_of(ctx, statement).code in {"read_only", "sql_failed"}
    assert ask(ctx, "select count(*) as n from item")["rows"] == [{"n": 2}]


def test_a_change_is_committed_and_counted(ctx: FakeContext) -> None:
    answer = ask(ctx, "update item set price = price * 2", read_only=False)
    assert (answer["count"], answer["rows"]) == (2, [])
    assert ask(ctx, "select price from item order by id")["rows"] == [{"price": 824.0}, {"price": 77.0}]
    answer = ask(ctx, "insert into item (name) values (:n) returning id", parameters={"n": "chair"}, read_only=False)
    assert answer["rows"] == [{"id": 3}]


def test_a_change_that_fails_leaves_nothing(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "insert into item (id, name) values (3, 'chair'), (4, 'desk')", read_only=False)
    assert (failure.code, failure.retryable) == ("sql_failed", False)
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


@pytest.mark.parametrize(
    "statement",
    ["attach '/tmp/x.sqlite3' as other", "vacuum into '/tmp/pawl-stolen'", "pragma journal_mode = off", "commit"],
)
def test_a_statement_reaches_no_other_file_and_no_setting(ctx: FakeContext, statement: str) -> None:
    assert failure_of(ctx, statement, read_only=False).code == "sql_failed"
    assert not Path("/tmp/pawl-stolen").exists()


def test_columns_of_a_table_may_be_asked_for(ctx: FakeContext) -> None:
    assert [row["name"] for row in ask(ctx, "pragma table_info(item)")["rows"]] == ["id", "name", "price", "picture"]


def test_a_statement_without_end_is_stopped(ctx: FakeContext) -> None:
    started = time.monotonic()
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as c from n"
    failure = failure_of(ctx, endless, timeout_s=0.3)
    assert (failure.code, failure.retryable) == ("timed_out", True)
    assert time.monotonic() - started < 3


def test_a_locked_database_may_be_free_later(ctx: FakeContext) -> None:
    with closing(sqlite3.connect(ctx.storage_root / "shop.sqlite3", isolation_level=None)) as other:
        other.execute("begin exclusive")
        failure = failure_of(ctx, "update item set price = 1", read_only=False, timeout_s=0.2)
        assert failure.retryable
        other.execute("rollback")


@pytest.mark.parametrize("path", ["../outside.sqlite3", "/etc/passwd"])
def test_the_file_is_in_the_storage(ctx: FakeContext, path: str) -> None:
    ctx.connections = {"shop": {"engine": "sqlite", "path": path}}
    assert failure_of(ctx, "select 1").code == "path_refused"
    assert failure_of(ctx, "create table t (a)", read_only=False).code == "path_refused"


def test_a_missing_file_is_not_made_by_reading(ctx: FakeContext) -> None:
    ctx.connections = {"shop": {"engine": "sqlite", "path": "new.sqlite3"}}
    assert failure_of(ctx, "select 1").code == "file_not_found"
    ask(ctx, "create table t (a)", read_only=False)
    assert (ctx.storage_root / "new.sqlite3").is_file()


def test_a_missing_parameter_is_named_and_an_unused_one_logged(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "select :nme", parameters={"name": 1})
    assert failure.code == "parameter_missing"
    assert ":nme" in failure.message
    ask(ctx, "select 1 as one", parameters={"spare": 1})
    assert "spare" in "".join(ctx.logged)


def test_a_number_that_sqlite_cannot_hold_is_refused(ctx: FakeContext) -> None:
    assert failure_of(ctx, "select :n as n", parameters={"n": 2**70}).code == "bad_parameter"
