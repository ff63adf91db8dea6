import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from config.services.house import DEFAULT_PORTS
from config.services.ports import reserve


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder that PostgreSQL's account can reach; pytest closes its own folders to others, again and again."""
    above = Path(tempfile.mkdtemp(prefix="pawl-state-"))
    above.chmod(0o711)
    yield above / "state"
    shutil.rmtree(above, ignore_errors=os.geteuid() != 0)


@pytest.fixture
def ports_of_nobody_else() -> Iterator[None]:
    """Checkouts take ports that no other one wants: those that are there by default are kept for nobody. A test that
    starts a checkout again needs it, for between its end and its start another test's may take what it had.
    """
    with ExitStack() as kept:
        for port in DEFAULT_PORTS.values():
            if (keeper := reserve(port)) is not None:
                kept.enter_context(keeper)
        yield
