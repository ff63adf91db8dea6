"""Maps, loops and runs inside runs: nothing of them is skipped, run twice or left behind."""

import pytest

from builder.validation.check import check
from steps.registry import all_specs
from tests.cases.scene import Scene
from tests.graphs import draw

pytestmark = pytest.mark.django_db(transaction=True)
ITEM = "{{ item }}"


def test_a_map_of_nothing_is_done_in_the_first_attempt_and_after_a_resume_alike(scene: Scene) -> None:
    """apache/airflow#43214: the retry of a run with an empty map raised what the first attempt had not."""
    run_id = scene.play("S > E[A] > B > C", configs={"E": {"items": []}, "C": {"fails": [1]}})
    before = scene.statuses(run_id)
    assert (before["E"], before["C"], scene.status(run_id)) == ("succeeded", "failed", "failed")
    scene.resume(run_id)
    assert scene.ticks == {"B": 1, "C": 2}
    assert scene.status(run_id) == "succeeded"


def test_an_edge_from_the_end_of_a_loop_to_its_start_is_refused_by_name() -> None:
    """n8n-io/n8n#21817: the loop's end wired to its own start ran until the server had no memory left."""
    graph = draw("S > E[A] > B > E", configs={"E": {"items": [1, 2, 3]}})
    circle = [found for found in check(graph, all_specs()) if found.code == "cycle"]
    assert [(found.severity, found.node) for found in circle] == [("error", "n_E")]
    assert "E > B > E" in circle[0].message


def test_a_resume_goes_on_inside_the_item_that_failed(scene: Scene) -> None:
    """windmill-labs/windmill#4956: a restart at a step inside a loop answered 'step not found'."""
    configs = {
        "E": {"items": ["a", "b", "c", "d"], "window": 1, "on_item_failure": "fail_fast"},
        "X": {"name": "X-{{ item }}"}, "Y": {"name": "Y-{{ item }}", "fails": "{{ [1] if item == 'c' else [] }}"},
    }  # fmt: skip
    run_id = scene.play("S > E[X:test_tick > Y]", configs=configs)
    assert scene.status(run_id) == "failed"
    assert scene.ticks == {"X-a": 1, "Y-a": 1, "X-b": 1, "Y-b": 1, "X-c": 1, "Y-c": 1}
    scene.resume(run_id)
    assert scene.status(run_id) == "succeeded"
    assert scene.ticks == {**dict.fromkeys(["X-a", "Y-a", "X-b", "Y-b", "X-c", "X-d", "Y-d"], 1), "Y-c": 2}


def test_items_that_never_came_to_be_are_made_by_the_resume(scene: Scene) -> None:
    """dagster-io/dagster#30248: a retry after a failure before the fan-out began at the collector."""
    configs = {
        "G": {"value": [1, 2, 3], "fails": [1]}, "E": {"items": "{{ steps.G.output }}"}, "A": {"value": ITEM},
        "K": {"value": "{{ steps.E.output | sum }}"},
    }  # fmt: skip
    run_id = scene.play("S > G > E[A] > K", configs=configs)
    scene.resume(run_id)
    assert scene.output(run_id, "K") == 6
    assert scene.ticks == {"G": 2, "E[0].A": 1, "E[1].A": 1, "E[2].A": 1, "K": 1}
