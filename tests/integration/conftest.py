"""What tests of the engine's store share: a world whose invariants are looked at in the end, and two workers.

Imports are inside: pytest reads this file before Django is set up.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.engine import World
    from tests.hands import Hand


@pytest.fixture
def world(transactional_db: None) -> "Iterator[World]":
    from tests.engine import World

    with World() as world:
        yield world
        assert world.broken() == []


@pytest.fixture
def hands(transactional_db: None) -> "Iterator[list[Hand]]":
    from tests.hands import Hand

    hands = [Hand(), Hand()]
    yield hands
    for hand in hands:
        hand.close()


@pytest.fixture
def extra_kinds(monkeypatch: pytest.MonkeyPatch) -> "Iterator[None]":
    """The step kinds of tests/kinds.py and tests/harmful_kinds.py, for this process and its children."""
    from steps import registry

    def forget() -> None:
        for cached in (registry._plugins, registry.get, registry.all_specs):
            cached.cache_clear()

    monkeypatch.setenv("PAWL_EXTRA_STEPS", "tests.kinds,tests.harmful_kinds,tests.keeping_kinds")
    forget()
    yield
    monkeypatch.undo()
    forget()
