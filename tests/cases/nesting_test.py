"""Loops, and runs inside runs: they end, and a resume repeats nothing of them that was finished."""

import json

import pytest

from builder.graph.codec import encode
from builder.workflows.checking import problems_of
from builder.workflows.models import Version
from runs.engine.children import deliver
from runs.models import Run
from tests.cases.scene import Scene
from tests.graphs import draw

pytestmark = pytest.mark.django_db(transaction=True)


def test_workflows_that_run_each_other_end_at_the_deepest_level_and_one_cannot_run_itself(scene: Scene) -> None:
    """kestra-io/kestra#18491, #1474: a flow could not call itself; two that called each other ran without bound."""
    first = scene.draw("S > O")
    second = scene.draw("S > C", kinds={"C": "run_workflow"}, configs={"C": {"workflow": str(first.workflow_id)}})
    back = draw("S > C", kinds={"C": "run_workflow"}, configs={"C": {"workflow": str(second.workflow_id)}})
    Version.objects.create(workflow=first.workflow, number=2, graph=json.dumps(encode(back)))
    found = problems_of(back, scene.workspace, workflow_id=second.workflow_id)
    assert [problem["code"] for problem in found] == ["calls_itself"]
    run_id = scene.start(second).run_id
    for _ in range(50):
        scene.work()
        if not deliver(scene.connection):
            break
    assert "nesting too deep" in (scene.steps(run_id)["C"].error or "").lower()
    assert {run.status for run in Run.objects.filter(root_id=run_id)} == {"failed"} == {scene.status(run_id)}
    assert Run.objects.filter(root_id=run_id).count() == 10
    assert scene.broken() == []


def test_a_resume_goes_on_inside_the_round_that_failed(scene: Scene) -> None:
    """activepieces/activepieces PR 8908: a restart inside a loop began the loop anew, or found no such step."""
    configs = {
        "L": {"most": 4},
        "X": {"name": "X-{{ index }}"},
        "Y": {"name": "Y-{{ index }}", "fails": "{{ [1] if index == 2 else [] }}"},
    }
    run_id = scene.play("S > L:loop[X:test_tick > Y]", configs=configs)
    assert scene.status(run_id) == "failed"
    scene.resume(run_id)
    assert scene.status(run_id) == "succeeded"
    assert scene.ticks == {**{f"{key}-{index}": 1 for key in "XY" for index in range(4)}, "Y-2": 2}
    assert scene.broken() == []
