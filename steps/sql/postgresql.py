from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import certifi
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb

from steps.addresses import check_address, name_of
from steps.base import StepFailure
from steps.connections import SqlConnection
from steps.sql.spec import SqlConfig
from steps.sql.statement import Statement
from steps.sql.values import answer, too_many

MAY_WORK_LATER = ("08", "40", "53", "55P03", "57P01", "57P02", "57P03")  # classes and codes of SQLSTATE
FROM_URL = {"host", "port", "dbname", "user", "password", "sslmode"}  # the rest of libpq's settings reads files


def run(
    statement: Statement,
    values: Mapping[str, Any],
    *,
    settings: SqlConnection,
    config: SqlConfig,
    allow: Collection[str],
) -> dict[str, Any]:
    parameters = [_bound(values[name]) for name in statement.names]
    with _connected(settings, config, allow) as connection, _failures(config):
        found = (_read if config.read_only else _change)(connection, statement, parameters, limit=config.row_limit)
        _commit(connection, config)
        return found


def _read(connection: Any, statement: Statement, parameters: list[Any], *, limit: int) -> dict[str, Any]:
    """Row by row: a statement that gives a million rows is stopped after `limit`, and never in memory whole."""
    rows: list[Any] = []
    with psycopg.RawCursor(connection) as cursor:
        try:
            for row in cursor.stream(statement.numbered, parameters):
                rows.append(row)
                if len(rows) > limit:
                    raise too_many(limit)
        except psycopg.ProgrammingError as problem:
            if problem.sqlstate is not None:  # else it is psycopg's own: a statement without rows
                raise
        return answer(_columns(cursor), rows, changed=0)


def _change(connection: Any, statement: Statement, parameters: list[Any], *, limit: int) -> dict[str, Any]:
    with psycopg.RawCursor(connection) as cursor:
        cursor.execute(statement.numbered, parameters)
        rows = cursor.fetchmany(limit + 1) if cursor.description else []
        if len(rows) > limit:
            raise too_many(limit)
        return answer(_columns(cursor), rows, changed=cursor.rowcount)


def _columns(cursor: psycopg.RawCursor[Any]) -> list[str]:
    return [column.name for column in cursor.description or ()]


def _commit(connection: psycopg.Connection[Any], config: SqlConfig) -> None:
    try:
        connection.commit()
    except psycopg.OperationalError as problem:
        if config.read_only or config.repeatable or problem.sqlstate is not None:
            raise
        raise StepFailure(
            "outcome_unknown",
            "The connection was lost while the change was being committed: it may have happened or not. Look at the "
            "database, then decide.",
        ) from problem


def _bound(value: Any) -> Any:
    """Objects go in as jsonb, so do lists that hold any; other lists as arrays, for = ANY(:names)."""
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, dict | list) for each in value)):
        return Jsonb(value)
    return value


@contextmanager
def _connected(settings: SqlConnection, config: SqlConfig, allow: Collection[str]) -> Iterator[psycopg.Connection[Any]]:
    parts = _parts(settings)
    host, port = str(parts["host"]), int(parts["port"])
    addresses = check_address(host, port, allow=allow)
    read_only = "on" if config.read_only else "off"
    timeout_ms = max(1, int(config.timeout_s * 1000))
    try:
        connection = psycopg.connect(
            **{**parts, "hostaddr": ",".join(addresses), "host": ",".join([host] * len(addresses)), "port": port},
            options=f"-c statement_timeout={timeout_ms} -c default_transaction_read_only={read_only}",
            connect_timeout=max(2, int(config.timeout_s)),
            application_name="pawl",
            passfile="",
            prepare_threshold=None,
        )
    except psycopg.OperationalError as problem:
        raise StepFailure(
            "connection_failed",
            f"The database at {name_of(host, port)} cannot be reached: {_first_line(problem)}",
            retryable=_is_temporary(problem),
        ) from None
    try:
        connection.read_only = config.read_only
        yield connection
    finally:
        connection.close()


def _parts(settings: SqlConnection) -> dict[str, Any]:
    """What psycopg connects with. Never a unix socket, a list of hosts or a file of the machine."""
    parts: dict[str, Any] = {
        "host": settings.host, "port": settings.port, "dbname": settings.database, "user": settings.user,
        "password": settings.password, "sslmode": settings.tls,
    }  # fmt: skip
    if settings.url:
        try:
            given = conninfo_to_dict(settings.url)
        except psycopg.ProgrammingError:
            raise StepFailure("bad_connection", "The connection's address cannot be read.") from None
        if odd := sorted(given.keys() - FROM_URL):
            raise StepFailure(
                "bad_connection", f"The connection's address has settings that Pawl does not take: {odd}."
            )
        parts |= {"user": "", "password": "", "dbname": ""} | {name: value for name, value in given.items() if value}
    if not parts["host"] or any(sign in str(parts["host"]) for sign in "/,@") or "," in str(parts["port"]):
        raise StepFailure("bad_connection", "The connection must name one host.")
    parts["sslrootcert"] = certifi.where() if parts["sslmode"] == "verify-full" else ""
    return {name: value for name, value in parts.items() if value != ""}


@contextmanager
def _failures(config: SqlConfig) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.QueryCanceled as problem:
        message = f"The statement ran longer than {config.timeout_s:g} s, and was stopped."
        raise StepFailure("timed_out", message, retryable=True) from problem
    except psycopg.errors.ReadOnlySqlTransaction as problem:
        message = "The statement changes data. Switch 'Read only' off for that."
        raise StepFailure("read_only", message) from problem
    except psycopg.Error as problem:
        raise StepFailure(
            "sql_failed",
            f"The database refuses the statement: {_first_line(problem)}",
            retryable=_is_temporary(problem),
            data={"sqlstate": problem.sqlstate, "hint": problem.diag.message_hint},
        ) from problem


def _is_temporary(problem: psycopg.Error) -> bool:
    if problem.sqlstate is None:  # no answer from the server at all
        return isinstance(problem, psycopg.OperationalError)
    return problem.sqlstate.startswith(MAY_WORK_LATER)


def _first_line(problem: psycopg.Error) -> str:
    text = problem.diag.message_primary or str(problem).strip()
    return text.splitlines()[0] if text else type(problem).__name__
