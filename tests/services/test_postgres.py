import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.services import processes
from config.services.errors import ServiceProblem
from config.services.ports import LOOPBACK
from config.services.postgres import Postgres


@pytest.fixture
def server(state: Path) -> Iterator[Postgres]:
    postgres = Postgres(state / "postgres", password="s3cret/&", durable=True)
    state.mkdir(mode=0o711)
    postgres.start(preferred=[])
    yield postgres
    postgres.stop()


def _one(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return row[0]


def test_a_durable_server_writes_to_disk_and_listens_on_loopback_alone(server: Postgres) -> None:
    wanted = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "listen_addresses": "127.0.0.1"}
    assert {name: _one(server.url(), f"show {name}") for name in wanted} == wanted
    assert _one(server.url(), "show unix_socket_directories") == ""


def test_nobody_enters_without_the_password(server: Postgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.url(password="guess"), connect_timeout=5)


def test_a_role_cannot_enter_the_database_of_another(server: Postgres) -> None:
    server.provision("pawl", user="pawl", password="a")
    server.provision("sample", user="sample", password="b")
    assert _one(server.url("sample", user="sample", password="b"), "select current_user") == "sample"
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(server.url("pawl", user="sample", password="b"), connect_timeout=5)


def test_provisioning_again_keeps_the_data_and_takes_the_new_password(server: Postgres) -> None:
    server.provision("pawl", user="pawl", password="a")
    with psycopg.connect(server.url("pawl", user="pawl", password="a")) as connection:
        connection.execute("create table kept as select 7 as n")
    server.provision("pawl", user="pawl", password="b")
    assert _one(server.url("pawl", user="pawl", password="b"), "select n from kept") == 7


def test_what_was_committed_survives_a_kill_of_every_process(server: Postgres) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("create table kept as select 7 as n")
    for pid in processes.processes_in(server.data):
        os.kill(pid, signal.SIGKILL)
    again = Postgres(server.folder, password="s3cret/&")
    again.start(preferred=[server.port])
    try:
        assert _one(again.url(), "select n from kept") == 7
    finally:
        again.stop()


def test_a_start_waits_for_the_last_process_of_a_server_that_was_killed(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.process is not None
    session = psycopg.connect(server.url())
    dying = session.info.backend_pid
    os.kill(dying, signal.SIGSTOP)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(5)
    again = Postgres(server.folder, password="s3cret/&")
    monkeypatch.setattr(again, "_end_leftovers", lambda: (server.data / "postmaster.pid").unlink(missing_ok=True))
    gone = threading.Timer(2, os.kill, (dying, signal.SIGKILL))
    gone.start()
    try:
        again.start(preferred=[server.port])
        assert _one(again.url(), "select 1") == 1
    finally:
        gone.join()
        session.close()
        again.stop()


def test_a_server_that_an_earlier_start_left_running_is_ended_first(server: Postgres) -> None:
    left = server.process
    assert left is not None
    again = Postgres(server.folder, password="s3cret/&")
    again.start(preferred=[])
    try:
        assert left.wait(5) == 0
        assert _one(again.url(), "select 1") == 1
    finally:
        again.stop()


def test_a_lock_file_whose_pid_belongs_to_a_stranger_now_does_not_keep_it_from_starting(server: Postgres) -> None:
    lock = (server.data / "postmaster.pid").read_text().splitlines()
    server.stop(immediately=True)
    (server.data / "postmaster.pid").write_text("\n".join([str(os.getpid()), *lock[1:]]) + "\n")
    server.start(preferred=[])
    assert _one(server.url(), "select 1") == 1


def test_a_preferred_port_that_is_taken_is_left_to_its_owner(server: Postgres) -> None:
    server.stop()
    with socket.create_server((LOOPBACK, 0)) as other:
        server.start(preferred=[other.getsockname()[1]])
        assert server.port != other.getsockname()[1]


def test_the_data_of_another_major_version_is_refused_with_a_way_out(server: Postgres) -> None:
    server.stop()
    (server.data / "PG_VERSION").write_text("15\n")
    with pytest.raises(ServiceProblem, match=r"made by PostgreSQL 15.*make clean"):
        server.start(preferred=[])


def test_a_first_start_that_was_killed_half_way_begins_anew(state: Path) -> None:
    folder = state / "postgres"
    state.mkdir(mode=0o711)
    (folder / "data.making" / "base").mkdir(parents=True)
    postgres = Postgres(folder, password="p", durable=False)
    postgres.start(preferred=[])
    try:
        assert _one(postgres.url(), "select 1") == 1
    finally:
        postgres.stop()
