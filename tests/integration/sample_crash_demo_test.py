"""`make crash-demo` as it is, on servers of its own: a worker is killed at step 8; a second run is resumed there."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ATTEMPTS = {str(number): 2 if number == 8 else 1 for number in range(1, 13)}
RECOVERY_LIMIT_S = 2.0


@pytest.fixture
def state() -> Iterator[Path]:
    """Open to PostgreSQL's own account, unlike pytest's folders: else the data of root would lie elsewhere."""
    with tempfile.TemporaryDirectory(prefix="pawl-crash-demo-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "state"


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_killed_and_a_failed_step_8_go_on_without_repeating_what_was_finished(state: Path) -> None:
    command = [sys.executable, "-m", "config.services", "--state", str(state), "exec", "--"]
    ours = ("PAWL_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [*command, sys.executable, "manage.py", "crash_demo"],
        cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=380, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    for part in ("auto", "resume"):
        assert told[part]["status"] == "succeeded"
        assert told[part]["attempts"] == ATTEMPTS
        assert told[part]["repeated_finished_steps"] == 0
    assert told["auto"]["recovery_s"] <= RECOVERY_LIMIT_S
    assert "tell the same" in done.stdout
