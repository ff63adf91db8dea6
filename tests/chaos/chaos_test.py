"""A minute of chaos: whatever dies, freezes or goes away, every run ends as it should, and nothing runs again."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

import pytest

from config.services.house import REPOSITORY

DURATION_S = int(os.environ.get("PAWL_CHAOS_S", "60"))
BARE = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
FIELDS = [
    "runs", "steps", "faults", "lost", "repeated_finished", "event_gaps", "invariants_broken", "rerun_attempts",
    "operations",
]  # fmt: skip


@pytest.mark.crash
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_minute_of_mixed_faults_loses_nothing_and_repeats_nothing() -> None:
    seed = SystemRandom().randrange(10**6)
    with tempfile.TemporaryDirectory(prefix="pawl-chaos-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another account where we are root
        command = [sys.executable, "-m", "tests.chaos", "--duration", str(DURATION_S), "--seed", str(seed)]
        done = subprocess.run(
            [*command, "--state", f"{folder}/state"],
            cwd=REPOSITORY, env=BARE, capture_output=True, text=True, timeout=DURATION_S + 480, check=False,
        )  # fmt: skip
    told = f"seed {seed}, exit code {done.returncode}\n{done.stderr[-6000:]}"
    first, *_, last = done.stdout.splitlines()
    assert first == f"seed {seed}", told
    found = json.loads(last)
    assert list(found) == FIELDS, told
    broken = {name: found[name] for name in ("lost", "repeated_finished", "event_gaps", "invariants_broken")}
    assert broken == dict.fromkeys(broken, 0), told
    assert done.returncode == 0, told
    assert found["runs"] >= 50
    assert found["rerun_attempts"] >= 1
    assert min(found["faults"].values()) >= 1
