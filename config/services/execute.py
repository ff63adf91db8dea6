"""One command with the servers up and the environment set: for `make manage`, `make bench`, `make crash-demo`."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from config.services import processes
from config.services.house import AlreadyRunning, House, Say, environment_of_running
from config.services.keys import encryption_key
from config.services.run import demo_account, with_sample
from config.services.signals import StopRequested, ignore_signals, stop_on_signals

_STOP_GRACE_S = 5.0


def execute(state: Path, command: Sequence[str], *, say: Say) -> int:
    """Answers the command's exit code. A `make run` that goes on in another terminal lends its servers."""
    stop_on_signals()
    try:
        with House(state, say=say, given=dict(os.environ)) as house:
            try:
                return _wait_for(command, env={**with_sample(house), **demo_account(house)})
            finally:
                ignore_signals()
    except AlreadyRunning:
        theirs = environment_of_running(state)
        if not theirs:
            raise
        say("Joining the servers of the `make run` that is going on")
        return _wait_for(command, env={**os.environ, **theirs})
    except StopRequested:
        return 130


def execute_offline(command: Sequence[str]) -> int:
    """For type checks and generated files: settings that are whole, and lead nowhere."""
    nowhere = {
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "PAWL_SECRET_KEY": "only-for-commands-that-serve-nobody",
        "PAWL_ENCRYPTION_KEYS": encryption_key(),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    return subprocess.run(command, env={**os.environ, **nowhere}, check=False).returncode


def _wait_for(command: Sequence[str], *, env: Mapping[str, str]) -> int:
    # In our own session: the command may ask its user something.
    child = subprocess.Popen(command, env=dict(env), preexec_fn=processes.die_with_parent(signal.SIGTERM))  # noqa: PLW1509 - no threads here
    try:
        return child.wait()
    except StopRequested:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_STOP_GRACE_S)
        child.kill()
        child.wait()
        raise
