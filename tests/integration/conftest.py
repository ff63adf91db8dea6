"""What tests of the engine's store share: a world whose invariants are looked at in the end, and two workers.

Imports are inside: pytest reads this file before Django is set up.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.extra_kinds import known

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
def extra_kinds() -> "Iterator[None]":
    """The step kinds that misbehave, and those that keep something, for this process and its children."""
    with known("tests.kinds,tests.harmful_kinds,tests.keeping_kinds"):
        yield
