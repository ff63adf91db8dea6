"""The sample's own database of purchase orders: PostgreSQL with a role of its own, else a SQLite file.

A `sql` step must never see Pawl's own tables, so it never gets Pawl's role.
"""

import hashlib
import hmac
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql

from sample.orders import SCHEMA, line_rows, order_rows

NAME = "pawl_sample"  # of the database, and of its role
SQLITE_FILE = "sample/purchase-orders.sqlite3"
_ORDER: LiteralString = "insert into purchase_orders values ({0}, {0}, {0}, {0}) on conflict do nothing"
_LINE: LiteralString = "insert into purchase_order_lines values ({0}, {0}, {0}, {0}, {0}) on conflict do nothing"


@dataclass(frozen=True)
class SampleDatabase:
    connection: Mapping[str, Any]  # settings of a `sql` connection
    note: str  # one sentence for the person who starts Pawl


def given_database(url: str, *, batch: str) -> SampleDatabase:
    """One that somebody provided, with a role of its own."""
    _fill_postgres(url, batch=batch)
    return SampleDatabase({"engine": "postgresql", "url": url, "tls": "prefer"}, "a database of its own in PostgreSQL")


def own_database(server: Mapping[str, Any], *, secret_key: str, storage: Path, batch: str) -> SampleDatabase:
    """Made on Pawl's server (`server`: Django's settings of it) where its user may, else a file in `storage`."""
    password = hmac.new(secret_key.encode(), b"sample database", hashlib.sha256).hexdigest()
    if not _provisioned(server, password=password):
        return _sqlite(storage, batch=batch)
    url = f"postgresql://{NAME}:{quote(password)}@{server['HOST']}:{server['PORT'] or 5432}/{NAME}"
    return given_database(url, batch=batch)


def _provisioned(server: Mapping[str, Any], *, password: str) -> bool:
    with psycopg.connect(
        host=server["HOST"], port=server["PORT"] or 5432, user=server["USER"], password=server["PASSWORD"],
        dbname=server["NAME"], autocommit=True, connect_timeout=10,
    ) as connection:  # fmt: skip
        may = connection.execute(
            "select rolsuper or (rolcreaterole and rolcreatedb) from pg_roles where rolname = current_user"
        ).fetchone()
        if may is None or not may[0]:
            return False
        role = sql.Identifier(NAME)
        known = connection.execute("select 1 from pg_roles where rolname = %s", [NAME]).fetchone()
        verb = sql.SQL("alter role {} with login password {}" if known else "create role {} with login password {}")
        connection.execute(verb.format(role, sql.Literal(password)))
        if not connection.execute("select 1 from pg_database where datname = %s", [NAME]).fetchone():
            connection.execute(sql.SQL("grant {} to current_user").format(role))  # else it could not be made the owner
            connection.execute(sql.SQL("create database {0} owner {0}").format(role))
            connection.execute(sql.SQL("revoke connect, temporary on database {} from public").format(role))
    return True


def _fill_postgres(url: str, *, batch: str) -> None:
    with psycopg.connect(url, connect_timeout=10) as connection:
        # Two starts at once must not both make the tables; the number is ours alone (see pg_advisory_xact_lock).
        connection.execute("select pg_advisory_xact_lock(7_251_990)")
        cursor = connection.cursor()
        _fill(cursor.execute, cursor.executemany, mark="%s", batch=batch)


def _sqlite(storage: Path, *, batch: str) -> SampleDatabase:
    path = storage / SQLITE_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            _fill(connection.execute, connection.executemany, mark="?", batch=batch)
    finally:
        connection.close()
    return SampleDatabase(
        {"engine": "sqlite", "path": SQLITE_FILE},
        "a SQLite file, because Pawl's user may not make databases and roles on this server "
        "(PAWL_SAMPLE_DATABASE_URL can name one)",
    )


def _fill(
    execute: Callable[[LiteralString], Any],
    executemany: Callable[[LiteralString, Sequence[Any]], Any],
    *,
    mark: LiteralString,
    batch: str,
) -> None:
    for statement in SCHEMA:
        execute(statement)
    executemany(_ORDER.format(mark), order_rows(batch))
    executemany(_LINE.format(mark), [(*row[:4], str(row[4])) for row in line_rows()])
