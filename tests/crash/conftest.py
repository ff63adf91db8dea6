"""Crash tests of one module share their processes: starting them takes longer than most of what they are to survive."""

import os
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.extra_kinds import FLEETS, known


@pytest.fixture(scope="module")
def gated_kinds() -> Iterator[None]:
    """This process knows the kinds that the fleet's workers know."""
    with known(FLEETS):
        yield


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In this folder: the database is emptied after the last test of a module. (By this name pytest-django knows that
    tests want a database.)"""
    with django_db_blocker.unblock():
        yield
        # Numbers go on: the append-only tables are not Django's to empty, and their rows name step runs by number.
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False, inhibit_post_migrate=False)
        connection.close()


@pytest.fixture(scope="module")
def shared_environment(db: None, servers: object, gated_kinds: None) -> dict[str, str]:
    """As `process_environment`, for all tests of a module."""
    from tests.fleet import REPOSITORY

    settings = connection.settings_dict
    address = f"{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    database_url = f"postgresql://{settings['USER']}:{quote(settings['PASSWORD'], safe='')}@{address}"
    return {**os.environ, "DATABASE_URL": database_url, "PYTHONPATH": str(REPOSITORY)}
