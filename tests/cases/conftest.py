"""Faults that people reported of other engines and builders, each played against this one, end to end: a real database,
a real worker, and counters outside of it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.extra_kinds import FLEETS, known

if TYPE_CHECKING:
    from tests.cases.scene import Scene


@pytest.fixture(scope="module", autouse=True)
def kinds_that_count() -> Iterator[None]:
    with known(FLEETS):
        yield


@pytest.fixture
def scene(transactional_db: None, tmp_path: Path) -> "Iterator[Scene]":
    from tests.cases.scene import Scene

    with Scene(folder=tmp_path) as scene:
        yield scene
        assert scene.broken() == []
