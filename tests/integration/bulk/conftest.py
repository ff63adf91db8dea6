"""A world of Acme's, in which Ana, an operator, acts on many runs.

Imports are inside: pytest reads this file before Django is set up.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builder.workflows.models import Version
    from teams.access import Actor
    from tests.engine import World
    from tests.people import Cast


@pytest.fixture
def people(transactional_db: None) -> "Cast":
    from tests.people import cast

    return cast()


@pytest.fixture
def world(people: "Cast") -> "Iterator[World]":
    from tests.engine import World

    with World(workspace=people.acme) as world:
        yield world
        assert world.broken() == []


@pytest.fixture
def ana(people: "Cast") -> "Actor":
    from teams.models import Role

    return people.actor(Role.OPERATOR)


@pytest.fixture
def version(world: "World") -> "Version":
    return world.draw("S > A > B")
