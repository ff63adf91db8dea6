"""Root's checkout in a home closed to others: PostgreSQL's account reaches neither the data nor the binaries."""

import os
from pathlib import Path

import psycopg
import pytest

from config.services import postgres as module
from config.services.cleaning import drop_state
from config.services.house import House
from config.services.postgres import Postgres

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs PostgreSQL as itself")


@as_root
def test_the_data_moves_to_a_place_that_is_open_and_goes_with_the_state(state: Path) -> None:
    home = state.parent / "home"
    home.mkdir(mode=0o700)
    said: list[str] = []
    closed = home / ".pawl"
    with House(closed, say=said.append, given={"PATH": os.environ["PATH"]}) as house:
        assert house.postgres is not None
        elsewhere = house.postgres.folder.parent
        assert elsewhere.parent == Path("/var/lib/pawl")
        with psycopg.connect(house.environment["DATABASE_URL"], connect_timeout=5) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    assert any(str(elsewhere) in line for line in said)
    assert drop_state(closed)
    assert not elsewhere.exists()


@as_root
def test_binaries_out_of_reach_are_copied_once(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_open_to_all", lambda path: False)
    state.mkdir(mode=0o711)
    server = Postgres(state / "postgres", password="p", durable=False)
    server.start(preferred=[])
    server.stop()
    (copy,) = (state / "postgres" / "server").iterdir()
    made_at = copy.stat().st_mtime_ns
    server.start(preferred=[])
    try:
        with psycopg.connect(server.url(), connect_timeout=5) as connection:
            row = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()
        assert row is not None
        assert row[0].startswith(str(state))
        assert copy.stat().st_mtime_ns == made_at
    finally:
        server.stop()
