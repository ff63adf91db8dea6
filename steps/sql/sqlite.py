import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from steps import storage
from steps.base import StepFailure
from steps.connections import SqlConnection
from steps.sql.spec import SqlConfig
from steps.sql.statement import Statement
from steps.sql.values import answer, too_many

INSTRUCTIONS_PER_LOOK = 10_000
# ATTACH opens any file of the machine; a PRAGMA with a value changes how safely the file is written
HARMLESS_PRAGMAS = frozenset(
    {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"}
)
MAY_WORK_LATER = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def run(
    statement: Statement, values: Mapping[str, Any], *, settings: SqlConnection, config: SqlConfig, root: Path
) -> dict[str, Any]:
    parameters = {name: _bound(values[name]) for name in statement.names}
    deadline = time.monotonic() + config.timeout_s
    with _failures(config, deadline), _connected(settings, config, root) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline), INSTRUCTIONS_PER_LOOK)
        connection.execute("BEGIN" if config.read_only else "BEGIN IMMEDIATE")
        connection.set_authorizer(_judge)
        cursor = connection.execute(statement.named, parameters)
        rows = cursor.fetchmany(config.row_limit + 1)
        if len(rows) > config.row_limit:
            raise too_many(config.row_limit)
        columns = [column[0] for column in cursor.description or ()]
        changed = cursor.rowcount
        connection.set_authorizer(None)
        connection.execute("COMMIT")
        return answer(columns, rows, changed=changed)


@contextmanager
def _connected(settings: SqlConnection, config: SqlConfig, root: Path) -> Iterator[sqlite3.Connection]:
    if config.read_only:
        place, mode = storage.existing_file(root, settings.path), "ro"
    else:
        place, mode = storage.locate(root, settings.path), "rwc"
        place.parent.mkdir(parents=True, exist_ok=True)
    address = f"file:{quote(str(place))}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=config.timeout_s, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()  # rolls back what is not committed


def _judge(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and second is not None and (first or "").lower() not in HARMLESS_PRAGMAS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _bound(value: Any) -> Any:
    """Lists and objects go in as JSON text, for json_each(:names)."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


@contextmanager
def _failures(config: SqlConfig, deadline: float) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        code = getattr(problem, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary == sqlite3.SQLITE_INTERRUPT or time.monotonic() > deadline:
            message = f"The statement ran longer than {config.timeout_s:g} s, and was stopped."
            raise StepFailure("timed_out", message, retryable=True) from problem
        if primary == sqlite3.SQLITE_READONLY:
            raise StepFailure("read_only", "The statement changes data. Switch 'Read only' off for that.") from problem
        message = f"The database refuses the statement: {problem}"
        raise StepFailure("sql_failed", message, retryable=primary in MAY_WORK_LATER) from problem
    except OverflowError as problem:
        raise StepFailure("bad_parameter", "SQLite holds whole numbers of 64 bits; a parameter is larger.") from problem
