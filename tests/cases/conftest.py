"""Faults that people reported of other engines and builders, each played against this one, end to end: a real database,
a real worker, and counters outside of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from steps import registry

if TYPE_CHECKING:
    from tests.cases.scene import Scene

KINDS = "tests.kinds,tests.harmful_kinds,tests.gated_kinds,tests.tick_kinds"
CACHES = (
    registry._plugins, registry.get, registry.all_specs, registry.load_body, registry.literal_fields, registry._schema,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def kinds_that_count() -> Iterator[None]:
    earlier = os.environ.get(registry.EXTRA_STEPS)
    os.environ[registry.EXTRA_STEPS] = KINDS
    _forget()
    yield
    os.environ.pop(registry.EXTRA_STEPS)
    if earlier is not None:
        os.environ[registry.EXTRA_STEPS] = earlier
    _forget()


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()


@pytest.fixture
def scene(transactional_db: None, tmp_path: Path) -> "Iterator[Scene]":
    from tests.cases.scene import Scene

    with Scene(folder=tmp_path) as scene:
        yield scene
        assert scene.broken() == []
