"""First runs, end to end, on a real database with a real warm child."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_chain_runs_to_its_end() -> None:
    with World() as world:
        started = world.start(world.draw("S > A > B > O", configs={"A": {"value": "{{ run.input }}"}}), {"x": 1})
        world.work()
        assert world.statuses(started.run_id) == dict.fromkeys("SABO", "succeeded")
        assert world.run(started.run_id).status == "succeeded"
        assert world.output(started.run_id, "A") == {"x": 1}
        assert world.broken() == []


def test_a_map_runs_each_item_once_and_its_output_is_their_results_in_order() -> None:
    with World() as world:
        version = world.draw(
            "S > E[A > B] > C > O",
            configs={
                "E": {"items": "{{ run.input.items }}", "window": 3},
                "A": {"value": "{{ item * 2 }}"},
                "B": {"value": "{{ steps.A.output + index }}"},
                "C": {"value": "{{ steps.E.output }}"},
            },
        )
        started = world.start(version, {"items": [10, 20, 30, 40, 50]})
        world.work()
        assert world.run(started.run_id).status == "succeeded"
        assert world.output(started.run_id, "C") == [20, 41, 62, 83, 104]
        assert world.broken() == []


def test_a_delay_until_a_moment_ends_by_the_databases_clock_whatever_the_workers_says() -> None:
    with World() as world:
        moment = (timezone.now() + timedelta(days=30)).replace(microsecond=0)
        version = world.draw("S > D > O", configs={"D": {"until": moment.isoformat()}})
        started = world.start(version)
        world.work()
        waiting = world.steps(started.run_id)["D"]
        assert (waiting.status, waiting.wait_kind) == ("waiting", "timer")
        assert waiting.not_before == moment
        assert world.broken() == []
