"""Two acts at once: one pauses at each of its points, another one is done completely, the first goes on.

What a pair could bring back: two that decide from the same state and both write, one that waits for ever, a deadlock.
`make test` tries a part of all pairs, always the same one; with PAWL_PROVE all of them.
"""

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import pytest

from runs.link import Link
from runs.store.read import Connection
from tests.engine import World
from tests.interleavings.acts import ACTS
from tests.interleavings.playing import PROVE, meet, points_of
from tests.interleavings.scene import Scene, publish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timeout(3_600)]

SAMPLE = 3  # pairs of each act


@pytest.fixture
def connect(transactional_db: None) -> Iterator[Callable[[str], Connection]]:
    """Connections by name, each opened once and again where it broke."""
    links: dict[str, Link] = {}
    yield lambda name: links.setdefault(name, Link(name=name)).connection
    for link in links.values():
        link.close()


@pytest.mark.parametrize("name", ACTS)
def test_whatever_is_done_in_the_middle_of_an_act_both_are_whole(
    world: World, link: Link, connect: Callable[[str], Connection], name: str
) -> None:
    version, act = publish(world), ACTS[name]
    counted = Scene(world, version, link)
    points = points_of(act, counted)
    counted.check()
    pairs = list(product(range(1, points), ACTS))
    for point, other in pairs if PROVE else Random(name).sample(pairs, k=min(SAMPLE, len(pairs))):
        scene = Scene(world, version, link)
        try:
            meet(act, ACTS[other], point=point, scene=scene, connect=connect)
            scene.check()
        except AssertionError as error:
            raise AssertionError(f"{name} paused at point {point} of {points}, {other} meanwhile: {error}") from error
