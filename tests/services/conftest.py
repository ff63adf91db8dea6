import os
from pathlib import Path

import pytest


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder that PostgreSQL's account can reach although pytest closes its own folders."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/") and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    return tmp_path / "state"
