"""Two servers and a lock: what `make run` and `make manage` stand on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config.services import processes
from config.services.house import MARK, REPOSITORY, AlreadyRunning, House, environment_of_running

BARE = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
HOLD = "import sys, time; print('up', flush=True); time.sleep(600)"


def _house(state: Path, said: list[str] | None = None, **given: str) -> House:
    return House(state, say=(said if said is not None else []).append, given={**BARE, **given})


@contextlib.contextmanager
def _exec(state: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "config.services", "--state", str(state), "exec", "--", *command],
        cwd=REPOSITORY,
        env=BARE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait_until_up(holder: subprocess.Popen[str]) -> None:
    assert holder.stdout is not None
    assert holder.stdout.readline() == "up\n"


def _left(state: Path) -> list[int]:
    return processes.processes_marked(MARK, str(state)) + processes.processes_in(state / "postgres" / "data")


def test_both_servers_answer_at_the_addresses_of_the_environment_and_are_gone_afterwards(state: Path) -> None:
    with _house(state) as house:
        with psycopg.connect(house.environment["DATABASE_URL"], connect_timeout=5) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        with redis.Redis.from_url(house.environment["REDIS_URL"]) as client:
            assert client.ping()
        server = house.postgres
        assert server is not None
        assert server.address in house.environment["PAWL_OUTBOUND_ALLOW"]
    assert _left(state) == []
    assert not (state / "running.json").exists()


def test_redis_wants_its_password(state: Path) -> None:
    with _house(state) as house:
        address = house.environment["REDIS_URL"].rpartition("@")[2]
        with redis.Redis.from_url(f"redis://{address}") as client, pytest.raises(redis.AuthenticationError):
            client.ping()


@pytest.mark.usefixtures("ports_of_nobody_else")
def test_a_second_start_finds_the_same_keys_ports_and_data(state: Path) -> None:
    with _house(state) as house:
        first = dict(house.environment)
        with psycopg.connect(first["DATABASE_URL"]) as connection:
            connection.execute("create table kept as select 7 as n")
    with _house(state) as house:
        assert house.environment == first
        with psycopg.connect(first["DATABASE_URL"]) as connection:
            assert connection.execute("select n from kept").fetchone() == (7,)


def test_two_checkouts_run_at_once_on_ports_of_their_own_and_say_so(state: Path) -> None:
    said: list[str] = []
    with _house(state / "one") as one, _house(state / "two", said) as two:
        assert one.environment["DATABASE_URL"] != two.environment["DATABASE_URL"]
        assert one.environment["REDIS_URL"] != two.environment["REDIS_URL"]
        assert one.take_port("web") != 0
        with psycopg.connect(two.environment["DATABASE_URL"]) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    assert any("is taken by another program" in line for line in said)


def test_one_state_folder_is_held_by_one_start(state: Path) -> None:
    with _house(state), pytest.raises(AlreadyRunning, match="stop it first"), _house(state):
        pass


def test_a_given_database_and_redis_replace_our_own(state: Path) -> None:
    with _house(state / "theirs") as theirs:
        given = {name: theirs.environment[name] for name in ("DATABASE_URL", "REDIS_URL")}
        with _house(state / "ours", **given) as ours:
            assert ours.postgres is None
            assert ours.valkey is None
            assert {name: ours.environment[name] for name in given} == given
        assert not (state / "ours" / "postgres").exists()


def test_a_server_that_dies_is_started_again_where_it_was(state: Path) -> None:
    with _house(state) as house:
        before = dict(house.environment)
        assert house.postgres is not None
        assert house.valkey is not None
        for server in (house.postgres, house.valkey):
            assert server.process is not None
            server.process.kill()
            server.process.wait()
        house.keep_servers_alive()
        with psycopg.connect(before["DATABASE_URL"], connect_timeout=5) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        with redis.Redis.from_url(before["REDIS_URL"]) as client:
            assert client.ping()


def test_the_place_of_a_server_that_died_is_kept_from_another_checkout(state: Path) -> None:
    with _house(state / "one") as one:
        before = dict(one.environment)
        for server in (one.postgres, one.valkey):
            assert server is not None
            assert server.process is not None
            server.process.kill()
            server.process.wait()
        with _house(state / "two") as two:
            for name in ("DATABASE_URL", "REDIS_URL"):
                assert two.environment[name].rpartition("@")[2] != before[name].rpartition("@")[2]
            one.keep_servers_alive()
        with redis.Redis.from_url(before["REDIS_URL"]) as client:
            assert client.ping()


@pytest.mark.crash
@pytest.mark.usefixtures("ports_of_nobody_else")
def test_after_a_kill_of_everything_the_next_start_goes_on_with_the_same_data(state: Path) -> None:
    with _exec(state, sys.executable, "-c", HOLD) as holder:
        _wait_until_up(holder)
        url = environment_of_running(state)["DATABASE_URL"]
        with psycopg.connect(url, connect_timeout=5) as connection:
            connection.execute("create table kept as select 7 as n")
        for pid in [holder.pid, *_left(state)]:
            with contextlib.suppress(ProcessLookupError):  # it has ended with one that was killed before it
                os.kill(pid, signal.SIGKILL)
    begun = time.monotonic()
    with _house(state) as house, psycopg.connect(house.environment["DATABASE_URL"], connect_timeout=5) as connection:
        assert connection.execute("select n from kept").fetchone() == (7,)
    assert time.monotonic() - begun < 20


@pytest.mark.crash
def test_children_end_when_their_supervisor_alone_is_killed(state: Path) -> None:
    with _exec(state, sys.executable, "-c", HOLD) as holder:
        _wait_until_up(holder)
        assert len(_left(state)) > 2
        holder.kill()
        holder.wait()
        deadline = time.monotonic() + 8
        while any(processes.is_alive(pid) for pid in _left(state)):
            assert time.monotonic() < deadline, "a process was left behind"
            time.sleep(0.05)


def test_exec_joins_servers_that_run_already(state: Path) -> None:
    script = "import os; print(os.environ['DATABASE_URL'])"
    with _house(state) as house, _exec(state, sys.executable, "-c", script) as command:
        printed, _ = command.communicate(timeout=30)
        assert printed.strip() == house.environment["DATABASE_URL"]


@pytest.mark.crash
def test_what_a_killed_command_left_behind_ends_with_the_house(state: Path) -> None:
    leaves_one = "import subprocess, sys; subprocess.Popen(['sleep', '600'], start_new_session=True)"
    with _exec(state, sys.executable, "-c", leaves_one) as command:
        assert command.wait(30) == 0
    assert [pid for pid in _left(state) if processes.is_alive(pid)] == []


def test_exec_hands_on_the_exit_code(state: Path) -> None:
    with _exec(state, sys.executable, "-c", "raise SystemExit(5)") as failing:
        assert failing.wait(30) == 5


def test_a_file_cut_short_by_a_power_cut_is_no_obstacle(state: Path) -> None:
    state.mkdir()
    (state / "ports.json").write_text('{"web": 80')
    (state / "running.json").write_text("")
    with _house(state) as house:
        assert house.environment["REDIS_URL"]
    assert set(json.loads((state / "ports.json").read_text())) >= {"postgres", "redis"}
