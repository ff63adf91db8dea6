"""What tests of the engine's store share: a world whose invariants are looked at in the end, and two workers."""

from collections.abc import Iterator

import pytest

from tests.engine import World
from tests.hands import Hand


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    with World() as world:
        yield world
        assert world.broken() == []


@pytest.fixture
def hands(transactional_db: None) -> Iterator[list[Hand]]:
    hands = [Hand(), Hand()]
    yield hands
    for hand in hands:
        hand.close()
