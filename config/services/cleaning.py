"""make clean: drop what was built, fetched and kept. Standard library only: .venv may be broken."""

import fcntl
import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_BUILT = (
    ".venv", ".tools", ".pawl", "frontend/dist", "frontend/node_modules", "frontend/coverage", "staticfiles",
    "test-results", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache",
)  # fmt: skip


def main() -> int:
    for lock in (REPOSITORY / ".pawl").rglob("lock"):
        if _is_locked(lock):
            return _refuse(lock.parent)
    drop_state(REPOSITORY / ".pawl")
    for name in _BUILT:
        shutil.rmtree(REPOSITORY / name, ignore_errors=True)
    for cache in [path for path in REPOSITORY.rglob("__pycache__") if path.is_dir()]:
        shutil.rmtree(cache, ignore_errors=True)
    return 0


def drop_state(state: Path) -> bool:
    """The folder of one house, and what it keeps elsewhere. False, and nothing dropped, while somebody lives in it."""
    if _is_locked(state / "lock"):
        return False
    for note in state.rglob("postgres-is-elsewhere"):
        elsewhere = Path(note.read_text().strip())
        if elsewhere.parent == Path("/var/lib/pawl"):  # never follow a note anywhere else
            shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.rmtree(state, ignore_errors=True)
    return True


def _refuse(state: Path) -> int:
    print(f"==> Stopped: Pawl runs in {state}. Stop it first (Ctrl-C in its terminal).", file=sys.stderr)
    return 1


def _is_locked(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
