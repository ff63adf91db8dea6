"""A world whose invariants are looked at in the end, and the connection of those who act in it.

Imports are inside: pytest reads this file before Django is set up.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from runs.link import Link
    from tests.engine import World


@pytest.fixture
def world(transactional_db: None) -> "Iterator[World]":
    from tests.engine import World

    with World() as world:
        yield world
        assert world.broken() == []


@pytest.fixture
def link(transactional_db: None) -> "Iterator[Link]":
    from runs.link import Link

    link = Link(name="scene")
    yield link
    link.close()
