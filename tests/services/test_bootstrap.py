"""The bootstrap in a copy of a checkout, with a front end and an npm that only say what they were asked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from config.services.house import REPOSITORY

NPM = '#!/bin/sh\necho "npm $*" >> "$CALLS"\nmkdir -p node_modules dist\nexit "${NPM_EXIT:-0}"\n'


class Checkout:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        (folder / "config" / "services").mkdir(parents=True)
        shutil.copy(REPOSITORY / "config" / "services" / "bootstrap.py", folder / "config" / "services")
        (folder / "frontend" / "src").mkdir(parents=True)
        (folder / "frontend" / "src" / "main.ts").write_text("1")
        for name in ("package.json", "package-lock.json"):
            (folder / "frontend" / name).write_text("{}")
        self._tool("node", "#!/bin/sh\necho v22.1.0\n")
        self._tool("npm", NPM)

    def bootstrap(self, part: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}{os.pathsep}{os.defpath}"
        return subprocess.run(
            [sys.executable, "-I", "config/services/bootstrap.py", part],
            cwd=self.folder,
            env={"PATH": path, "CALLS": str(self.calls), **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def _tool(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_front_end_is_built_once_and_then_quietly_left_alone(checkout: Checkout) -> None:
    assert checkout.bootstrap("frontend").returncode == 0
    assert [line.split()[1] for line in checkout.asked()] == ["ci", "run"]
    again = checkout.bootstrap("frontend")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(checkout.asked()) == 2


def test_a_changed_source_is_built_again_without_fetching_packages_again(checkout: Checkout) -> None:
    checkout.bootstrap("frontend")
    (checkout.folder / "frontend" / "src" / "main.ts").write_text("2")
    checkout.bootstrap("frontend")
    assert [line.split()[1] for line in checkout.asked()] == ["ci", "run", "run"]


def test_a_changed_lock_fetches_packages_again(checkout: Checkout) -> None:
    checkout.bootstrap("frontend")
    (checkout.folder / "frontend" / "package-lock.json").write_text('{"a": 1}')
    checkout.bootstrap("frontend")
    assert [line.split()[1] for line in checkout.asked()] == ["ci", "run", "ci", "run"]


def test_a_failure_says_what_to_do_and_is_not_taken_for_done(checkout: Checkout) -> None:
    failed = checkout.bootstrap("frontend", {"NPM_EXIT": "7"})
    assert failed.returncode == 1
    assert "Stopped: `npm ci" in failed.stderr
    assert "npm config get registry" in failed.stderr
    assert checkout.bootstrap("frontend").returncode == 0
    assert [line.split()[1] for line in checkout.asked()] == ["ci", "ci", "run"]


def test_a_checkout_without_a_front_end_says_so(checkout: Checkout) -> None:
    (checkout.folder / "frontend" / "package.json").unlink()
    done = checkout.bootstrap("frontend")
    assert done.returncode == 0
    assert "left out" in done.stderr


def test_an_unknown_part_is_refused_with_the_known_ones(checkout: Checkout) -> None:
    done = checkout.bootstrap("everything")
    assert done.returncode == 2
    assert "venv, venv-dev, frontend, browser" in done.stderr
