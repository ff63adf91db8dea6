"""The pure half of the builder stays pure: runs/core and the child process import it."""

import subprocess
import sys

import pytest

FORBIDDEN = ["django", "rest_framework", "channels", "dramatiq", "redis", "psycopg", "httpx"]


@pytest.mark.parametrize(
    "module", ["builder.graph.codec", "builder.graph.hashing", "builder.expressions", "builder.validation"]
)
def test_a_fresh_interpreter_loads_nothing_of_the_outside_world(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
