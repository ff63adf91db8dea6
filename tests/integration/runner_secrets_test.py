"""Credentials reach the body that names them, and nothing that comes back shows them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.runner.messages import Failed, Succeeded
from tests.runner import Bench, bench, is_alive

PASSWORD = "correct horse/battery"
MASKED = "••••"
CONNECTIONS = {"service": {"user": "ann", "password": PASSWORD, "_secrets": [PASSWORD]}}
OTHERS = {"service": {"user": "bob", "password": "another secret", "_secrets": ["another secret"]}}


@pytest.fixture(scope="module")
def _shared() -> Iterator[Bench]:
    with bench() as made:
        yield made


@pytest.fixture
def runner(_shared: Bench) -> Bench:
    return Bench(_shared.child)


def _everything(runner: Bench, outcome: Any) -> str:
    return repr((outcome, runner.log, runner.progress, runner.checkpoints))


def test_the_body_gets_the_credentials_and_nobody_else_sees_them(runner: Bench) -> None:
    outcome = runner.run("use_connection", f"as {PASSWORD}", connections=CONNECTIONS)
    assert isinstance(outcome, Succeeded)
    assert outcome.output["settings"] == {"user": "ann", "password": MASKED}
    assert outcome.input == {"value": f"as {MASKED}"}
    assert runner.log == f"signing in with {MASKED}\n{MASKED}\n"
    assert runner.progress == [(1, 2, f"as {MASKED}")]
    assert [each.value for each in runner.checkpoints] == [{"as": MASKED}]
    assert PASSWORD not in _everything(runner, outcome)


@pytest.mark.parametrize("how", ["fail", "raise"])
def test_an_error_shows_no_credentials(runner: Bench, how: str) -> None:
    outcome = runner.run("use_connection", how, connections=CONNECTIONS)
    assert isinstance(outcome, Failed)
    assert MASKED in outcome.error.message
    assert PASSWORD not in _everything(runner, outcome)


def test_a_connection_that_is_not_there_is_a_failure_that_names_it(runner: Bench) -> None:
    outcome = runner.run("use_connection")
    assert isinstance(outcome, Failed)
    assert (outcome.error.code, outcome.error.data) == ("connection_missing", {"connection": "service"})


def test_a_child_that_held_credentials_serves_those_alone(runner: Bench) -> None:
    first = _pid(runner.run("use_connection", connections=CONNECTIONS))
    again = _pid(runner.run("use_connection", connections=CONNECTIONS))
    plain = runner.run("leave_zombie")
    other = _pid(runner.run("use_connection", connections=OTHERS))
    assert first == again
    assert isinstance(plain, Succeeded)
    assert len({first, plain.output, other}) == 3
    assert not is_alive(first)
    assert plain.output in runner.child.pids


def test_other_settings_under_the_same_name_are_another_connection(runner: Bench) -> None:
    """Two workspaces may both have a 'service'; and a password may have been changed."""
    mine = _pid(runner.run("use_connection", connections=CONNECTIONS))
    theirs = runner.run("use_connection", connections=OTHERS)
    assert _pid(theirs) != mine
    assert "another secret" not in repr(theirs)


def test_credentials_are_on_no_command_line_and_in_no_environment(runner: Bench) -> None:
    outcome = runner.run("environment", connections=CONNECTIONS)
    assert isinstance(outcome, Succeeded)
    assert set(outcome.output["names"]).isdisjoint(
        {"DATABASE_URL", "REDIS_URL", "PAWL_SECRET_KEY", "PAWL_ENCRYPTION_KEYS"}
    )


def _pid(outcome: Any) -> int:
    assert isinstance(outcome, Succeeded), outcome
    pid: int = outcome.output["pid"]
    return pid


def test_a_file_in_which_a_credential_stands_becomes_no_artifact(runner: Bench, tmp_path: Path) -> None:
    """Also where it stands across the border of two chunks."""
    limits = {"artifact_root": str(tmp_path), "artifact_limit_bytes": 4_000_000}
    outcome = runner.run("artifact_with_secret", connections=CONNECTIONS, **limits)
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "artifact_refused"
    assert runner.checkpoints == []
    assert list((tmp_path / "incoming").iterdir()) == []
