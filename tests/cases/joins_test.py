"""Joins and branches: a step with several edges runs once, when all that lead to it are settled and one is live."""

import itertools

import pytest

from tests.cases.scene import Scene

pytestmark = pytest.mark.django_db(transaction=True)
YES, NO = {"condition": True}, {"condition": False}


def test_a_step_with_two_plain_edges_runs_once_after_both(scene: Scene) -> None:
    """n8n-io/n8n#7775: it ran once for each edge that arrived."""
    run_id = scene.play("S > A + B > C")
    assert scene.ticks == {"A": 1, "B": 1, "C": 1}
    events = scene.events(run_id)
    assert events.index(("step.running", "C")) > max(events.index(("step.succeeded", each)) for each in "AB")


@pytest.mark.parametrize(("first", "second"), itertools.product([YES, NO], repeat=2))
def test_two_branches_that_lead_to_one_step_run_it_once_or_skip_it(
    scene: Scene, first: dict[str, bool], second: dict[str, bool]
) -> None:
    """langgenius/dify#12492: with both true the step never ran, and the run ended as if it were done."""
    run_id = scene.play("S > I1 + I2, I1 ?true> M:test_tick > E, I2 ?true> M", configs={"I1": first, "I2": second})
    runs = int(YES in (first, second))
    assert scene.ticks == ({"M": 1, "E": 1} if runs else {})
    assert {scene.statuses(run_id)[each] for each in "ME"} == {"succeeded" if runs else "skipped"}
    assert scene.status(run_id) == "succeeded"


def test_the_end_waits_for_the_slow_branch_and_sees_both_values(scene: Scene) -> None:
    """langgenius/dify#17377: the end did not wait, and gave null for the slow branch's value."""
    values = {"a": "{{ steps.A.output }}", "b": "{{ steps.B.output }}"}
    configs = {"A": {"sleep_s": 0.3, "value": 1}, "B": {"value": 2}, "E": {"value": values}}
    run_id = scene.play("S > A + B > E", configs=configs)
    assert scene.output(run_id, "E") == {"a": 1, "b": 2}


def test_a_join_waits_for_its_live_branch_and_is_never_declared_skipped(scene: Scene) -> None:
    """apache/airflow#11768, #17138: the join was skipped before the live branch had finished."""
    run_id = scene.play("S > I, I ?true> A, I ?false> B, A + B > J", configs={"I": YES, "A": {"sleep_s": 0.2}})
    assert scene.ticks == {"A": 1, "J": 1}
    told = [type_ for type_, path in scene.events(run_id) if path == "J"]
    assert "step.skipped" not in told
    assert scene.events(run_id).index(("step.running", "J")) > scene.events(run_id).index(("step.succeeded", "A"))


@pytest.mark.parametrize(
    "drawing", ["I ?true> A > J1, I ?false> B", "I ?true> A, I ?false> B"], ids=["its other way fired", "none fired"]
)
def test_a_join_behind_a_join_that_did_not_fire_runs_with_its_other_input(scene: Scene, drawing: str) -> None:
    """n8n-io/n8n#27053: it never ran, although its other input had data."""
    values = {"C": {"value": "c"}, "J1": {"value": "{{ steps.B.output }}"}, "J2": {"value": "{{ steps.C.output }}"}}
    run_id = scene.play(f"S > I + C, {drawing} > J1, J1 > J2, C > J2", configs={"I": YES, **values})
    assert scene.statuses(run_id)["J1"] == ("succeeded" if "A > J1" in drawing else "skipped")
    assert scene.output(run_id, "J1") is None, "it picks what did not come to be"
    assert scene.output(run_id, "J2") == "c"
    assert scene.status(run_id) == "succeeded"
    assert scene.ticks["J2"] == 1


def test_a_stop_in_one_item_of_a_map_skips_what_follows_in_that_item_alone(scene: Scene) -> None:
    """apache/airflow#48845: it skipped the followers of all items."""
    configs = {"E": {"items": list(range(7))}, "I": {"condition": "{{ item == 6 }}"}}
    run_id = scene.play("S > E[I ?true> A]", configs=configs)
    assert scene.ticks == {"E[6].A": 1}
    found = [scene.statuses(run_id)[f"E[{index}].A"] for index in range(7)]
    assert found == ["skipped"] * 6 + ["succeeded"]


def test_a_skipped_approval_parks_nobody(scene: Scene) -> None:
    """windmill-labs/windmill PR 9821: an approval that was itself skipped held the run until its limit."""
    run_id = scene.play("S > I, I ?true> P > B, I ?false> B", configs={"I": NO, "P": {"title": "Go on?"}})
    assert scene.statuses(run_id)["P"] == "skipped"
    assert scene.ticks == {"B": 1}
    assert scene.status(run_id) == "succeeded"
