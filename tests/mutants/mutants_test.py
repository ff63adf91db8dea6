"""The four guards that nothing else stands behind: without any of them its test fails. `make mutants` tries all."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_each_guard_of_a_result_is_missed_when_it_is_gone() -> None:
    names = ["fence_in_finish", "frozen_trigger", "dead_at_in_claim", "run_lock"]
    done = subprocess.run([sys.executable, RUN, "--trust", *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
