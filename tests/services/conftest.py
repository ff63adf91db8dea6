import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder that PostgreSQL's account can reach; pytest closes its own folders to others, again and again."""
    above = Path(tempfile.mkdtemp(prefix="pawl-state-"))
    above.chmod(0o711)
    yield above / "state"
    shutil.rmtree(above, ignore_errors=os.geteuid() != 0)
