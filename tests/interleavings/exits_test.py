"""Each act of the engine dies at each of its points; then everybody else goes on, or the same is asked for again.

What a death could bring back: half a transition, a counter that lies, a step that is lost or runs twice, an answer that
is not the first one's. `make test` tries the first and last points and some between; with PAWL_PROVE all of them.
"""

import pytest

from kit.failpoints import FailpointHit
from runs.link import Link
from tests.engine import World
from tests.interleavings.acts import ACTS
from tests.interleavings.playing import PROVE, dies, does, points_of, some_of
from tests.interleavings.scene import Scene, publish
from tests.staging import failpoints

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timeout(1_200)]


@pytest.mark.parametrize("name", ACTS)
def test_wherever_an_act_dies_the_others_bring_the_run_to_its_end(world: World, link: Link, name: str) -> None:
    """With PAWL_PROVE every other act is done once before that, in its turn."""
    version, act = publish(world), ACTS[name]
    counted = Scene(world, version, link)
    points = points_of(act, counted)
    counted.check()
    for point in some_of(points):
        scene = Scene(world, version, link)
        dies(act, scene, point=point)
        assert scene.broken() == [], f"{name} died at point {point} of {points}"
        for other in ACTS.values() if PROVE else ():
            if other is not act:
                does(other, scene)
        scene.check()


def test_a_callback_that_breaks_off_in_the_middle_is_taken_when_it_comes_again(world: World, link: Link) -> None:
    scene, act = Scene(world, publish(world), link), ACTS["hears_back"]
    act.before(scene)
    with failpoints("in_callback:raise"), pytest.raises(FailpointHit):
        act.do(scene, link.connection)
    assert act.do(scene, link.connection).result == "kept"
    assert act.do(scene, link.connection).result == "already"
    scene.check()


@pytest.mark.parametrize("name", ACTS)
def test_wherever_its_reply_was_lost_an_act_can_be_asked_for_again(world: World, link: Link, name: str) -> None:
    version, act = publish(world), ACTS[name]
    counted = Scene(world, version, link)
    points = points_of(act, counted)
    told = counted.events()
    counted.check()
    for point in some_of(points):
        scene = Scene(world, version, link)
        dies(act, scene, point=point)
        scene.again = True
        act.do(scene, scene.link.connection)
        assert scene.events() == told, f"{name} at point {point} of {points}: told otherwise than when done once"
        scene.check()
