import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One after the other, in one process: they all want the default ports first."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("default-ports"))


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder that PostgreSQL's account can reach; pytest closes its own folders to others, again and again."""
    above = Path(tempfile.mkdtemp(prefix="pawl-state-"))
    above.chmod(0o711)
    yield above / "state"
    shutil.rmtree(above, ignore_errors=os.geteuid() != 0)
