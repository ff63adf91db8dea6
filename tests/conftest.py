"""Real servers for every test that asks for a database or Redis, and none for those that do not.

Ports and passwords are chosen before Django reads its settings; the servers start with the first test that needs them.
Each pytest-xdist process has servers of its own, so a test may empty Redis or restart PostgreSQL.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from config.services import keys, ports
from config.services.postgres import Postgres
from config.services.valkey import Valkey

IN_CI = os.environ.get("CI") == "true"
PROVE = bool(os.environ.get("PAWL_PROVE"))  # `make prove`: as many examples as there is time for
LONGEST_FILES = (  # a minute or more each, the longest first
    "runs_store_model_test.py", "chaos_test.py", "runs_flow_test.py", "runs_secrets_test.py", "test_make_run.py",
    "runs_scarcity_test.py", "runs_postgres_test.py", "mutants_test.py", "runs_shapes_test.py", "runs_deaths_test.py",
    "limits_test.py", "runs_failpoints_test.py", "runner_limits_test.py", "runs_identity_test.py",
)  # fmt: skip
REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Servers:
    postgres: Postgres
    valkey: Valkey

    @property
    def redis_url(self) -> str:
        return self.valkey.url


def _choose() -> Servers:
    folder = Path(tempfile.mkdtemp(prefix="pawl-test-"))
    folder.chmod(0o711)  # root lends PostgreSQL to an ordinary account, which must be able to pass
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    servers = Servers(
        Postgres(folder / "postgres", password=keys.password(), durable=False),
        Valkey(folder / "redis", password=keys.password()),
    )
    servers.postgres.port = ports.free_port()
    servers.valkey.port = ports.free_port(taken=[servers.postgres.port])
    return servers


_ROLE_PASSWORD = keys.password()
_servers = _choose()


def _set_environment(servers: Servers) -> None:
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings",
        DATABASE_URL=servers.postgres.url("pawl", user="pawl", password=_ROLE_PASSWORD),
        REDIS_URL=servers.redis_url,
        PAWL_SECRET_KEY=keys.password(),
        PAWL_ENCRYPTION_KEYS=keys.encryption_key(),
        PAWL_STATE_DIR=str(servers.valkey.folder.parent),
        PAWL_OUTBOUND_ALLOW="",
    )


_set_environment(_servers)  # at import: pytest-django and the first `import config.settings` come later


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    import django

    django.setup()
    from django.conf import settings

    settings.WHITENOISE_AUTOREFRESH = True  # each test client would first look through all static files
    # CI runs the same examples each time: new ones are looked for at a desk, where somebody can follow them up.
    hypothesis_settings.register_profile("desk", deadline=None)
    hypothesis_settings.register_profile("ci", deadline=None, derandomize=True)
    hypothesis_settings.register_profile("prove", deadline=None, max_examples=3_000, print_blob=True)
    hypothesis_settings.load_profile("prove" if PROVE else "ci" if IN_CI else "desk")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that processes which share out whole files end together."""
    place = {name: number for number, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """The processes to come inherit our environment; with this in it they would read our settings before their own."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI nothing is left out silently: a skip is a failure."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which CI does not allow: {reason}"
    return report


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """PostgreSQL (without fsync: fast, not durable) and Redis, running."""
    postgres, valkey = _servers.postgres, _servers.valkey
    chosen = (postgres.port, valkey.port)
    postgres.start(preferred=[postgres.port])
    try:
        valkey.start(preferred=[valkey.port])
        assert (postgres.port, valkey.port) == chosen, "another program took a port of the tests: run them again"
        postgres.provision("pawl", user="pawl", password=_ROLE_PASSWORD)
        yield _servers
    finally:
        valkey.stop()
        postgres.stop(immediately=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, servers: Servers) -> None:
    """pytest-django asks for this before it makes the test database: the moment to start the servers.

    A test with real transactions leaves by TRUNCATE, which the append-only tables allow under this setting alone.
    """
    from django.db import connection

    connection.settings_dict["OPTIONS"]["options"] += " -c pawl.maintenance=truncate"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, servers: Servers) -> Iterator[None]:
    """After each test with real transactions Django empties the database, and would then write content types and
    permissions anew. Nobody reads them here, and it takes twice as long as the emptying.

    At the end the database goes, whoever still has a session there: PostgreSQL hears of the death of a process only
    when it next has something to tell it.
    """
    from django.db import connection
    from django.db.models.signals import post_migrate

    post_migrate.receivers = []
    yield
    _end_sessions(servers, str(connection.settings_dict["NAME"]))


def _end_sessions(servers: Servers, database: str) -> None:
    """No session stays on the database, and none begins."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    with psycopg.connect(servers.postgres.url(), autocommit=True) as superuser:
        superuser.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(Identifier(database)))
        end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
        superuser.execute(end, [database])


@pytest.fixture
def redis_url(servers: Servers) -> str:
    return servers.redis_url


@pytest.fixture
def process_environment(transactional_db: None) -> dict[str, str]:
    """For real child processes (workers, web, sweeper) of a test: they see the test's own database."""
    from django.db import connection

    user, name = connection.settings_dict["USER"], str(connection.settings_dict["NAME"])
    database_url = _servers.postgres.url(name, user=user, password=_ROLE_PASSWORD)
    return {**os.environ, "DATABASE_URL": database_url, "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture(autouse=True)
def apart(request: pytest.FixtureRequest) -> Iterator[None]:
    """What may take long is never done in a transaction, by no test that has a database (tests/apart.py)."""
    if request.node.get_closest_marker("django_db") is None:
        yield
        return
    from tests import apart

    apart.watch()
    apart.broken.clear()
    yield
    assert not apart.broken, f"called in a transaction: {sorted(set(apart.broken))}"
