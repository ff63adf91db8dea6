"""Django's own connection, as the engine's functions take it: for doors, whose transactions are Django's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from django.db import connection as django_connection

from runs.store.read import Connection


def raw_connection() -> Connection:
    """Django's own connection, without Django's wrapper: the engine's statements run in the transaction that is open on
    it.
    """
    django_connection.ensure_connection()
    return cast(Connection, django_connection.connection)


@contextmanager
def errors_as_djangos() -> Iterator[None]:
    """The engine speaks psycopg on Django's connection. Its errors become Django's, so that a database which does not
    answer, or a run that stays locked, is told as such and not as a defect.
    """
    with django_connection.wrap_database_errors:
        yield
