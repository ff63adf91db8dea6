"""no_self_approval against whatever a person can do to a run: who changed what is approved does not approve it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from builder.graph.model import Policy, Retry
from builder.workflows.models import Workflow
from runs.answering import has_made
from runs.bulk.drive import drive
from runs.bulk.services import Pace, Selection, begin_bulk
from runs.core.breakpoints import NO_BREAKPOINTS
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.models import Run, StepRun, Wait
from runs.recovery import edit_input, fork_run, retry_now, skip_step, supply_output
from runs.services import (
    answer_wait,
    cancel_run,
    decide_step,
    pause_run,
    resume_run,
    set_breakpoints,
    start_run,
    unpause_run,
)
from teams.models import Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast
from tests.staging import lose

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))
LATER = Failed(Error("busy", "It was busy.", retryable=True))


class Stage:
    """A run that the owner started, with a step in some trouble, and the admin who acts on it."""

    def __init__(self, world: World, hand: Hand) -> None:
        self.people: Cast = cast()
        world.workspace = self.people.acme
        self.world, self.hand = world, hand
        self.actor = self.people.actor(Role.ADMIN)
        self.run = self._start()

    def _start(self) -> Run:
        version = self.world.draw("S > A:delay > B", configs={"A": {"seconds": 1}})
        workflow = Workflow.objects.get(id=version.workflow_id)
        started = start_run(actor=self.people.actor(Role.OWNER), workflow=workflow, run_input=None)
        return Run.objects.get(id=started.run_id)

    def ended(self, outcome: Any) -> "Stage":
        self.hand.finish(self.hand.take(), outcome)
        return self.again()

    def again(self) -> "Stage":
        self.run.refresh_from_db()
        return self

    def act(self, function: Callable[..., Any], **more: Any) -> None:
        function(actor=self.actor, run=self.run, command_id=uuid4(), **more)
        self.again()

    def wait(self) -> Wait:
        return Wait.objects.get(run=self.run, status="open")

    def answer(self, **more: Any) -> None:
        answer_wait(actor=self.actor, wait=self.wait(), command_id=uuid4(), **more)

    @property
    def made(self) -> bool:
        return has_made(self.actor, Run.objects.get(id=self.run.id))


def resume(stage: Stage) -> None:
    stage.ended(BROKEN).act(resume_run, generation=1)


def edit(stage: Stage) -> None:
    stage.ended(BROKEN).act(edit_input, generation=1, path="A", given={"seconds": 2})


def skip_it(stage: Stage) -> None:
    stage.ended(BROKEN).act(skip_step, generation=1, path="A")


def supply(stage: Stage) -> None:
    stage.ended(BROKEN).act(supply_output, generation=1, path="A", output=1)


def fill_in(stage: Stage) -> None:
    stage.ended(Waits("form", None, {"title": "Where?"})).answer(decision="submitted", data={"street": "x"})


def correct(stage: Stage) -> None:
    stage.ended(Waits("approval", None, {"title": "Pay?", "data": 7})).answer(decision="approved", data=8)


def bulk_resume(stage: Stage) -> None:
    stage.ended(BROKEN)
    begin_bulk(
        actor=stage.actor, workspace=stage.people.acme, command_id=uuid4(), operation="resume",
        selection=Selection(ids=[stage.run.id]), pace=Pace(), request={},
    )  # fmt: skip
    assert drive() == 1


def say_yes(stage: Stage) -> None:
    stage.ended(Waits("approval", None, {"title": "Pay?", "data": 7})).answer(decision="approved", comment="fine")


def stop(stage: Stage) -> None:
    stage.act(pause_run)
    stage.act(set_breakpoints, breakpoints=NO_BREAKPOINTS)
    stage.act(unpause_run)
    stage.act(cancel_run)


def fork_away(stage: Stage) -> UUID:
    stage.ended(Succeeded(1))
    return fork_run(actor=stage.actor, run=stage.run, command_id=uuid4(), generation=1, path="B")


@pytest.fixture
def stage(world: World, hands: list[Hand]) -> Stage:
    return Stage(world, hands[0])


@pytest.mark.parametrize("operation", [resume, edit, skip_it, supply, fill_in, correct, bulk_resume])
def test_whoever_sets_a_run_going_again_or_changes_what_it_works_on_may_not_approve_it(
    stage: Stage, operation: Callable[[Stage], None]
) -> None:
    assert not stage.made
    operation(stage)
    assert stage.made


@pytest.mark.parametrize("operation", [say_yes, stop, fork_away])
def test_acts_that_leave_the_run_as_it_was_keep_nobody_from_approving_it(
    stage: Stage, operation: Callable[[Stage], None]
) -> None:
    operation(stage)
    assert not stage.made


def test_whoever_forked_a_run_started_the_fork(stage: Stage) -> None:
    assert has_made(stage.actor, Run.objects.get(id=fork_away(stage)))


def test_what_somebody_changed_in_a_run_is_theirs_in_its_forks_as_well(stage: Stage) -> None:
    supply(stage)
    owner, admin = stage.people.actor(Role.OWNER), stage.actor
    forked = fork_run(actor=owner, run=stage.run, command_id=uuid4(), generation=stage.run.generation, path="B")
    assert has_made(admin, Run.objects.get(id=forked))
    assert not has_made(stage.people.actor(Role.OPERATOR), Run.objects.get(id=forked))


def test_what_somebody_changed_in_a_run_is_theirs_in_the_runs_around_and_inside_it(stage: Stage) -> None:
    inner, outer = stage.run, Stage(stage.world, stage.hand).run
    Run.objects.filter(id=inner.id).update(parent_run_id=outer.id)
    edit(stage)
    assert has_made(stage.actor, outer)


def test_a_decision_on_an_unknown_outcome_is_a_change(stage: Stage) -> None:
    held = stage.hand.take()
    StepRun.objects.filter(id=held.step_run_id).update(delivery="at_most_once")
    lose(stage.world, stage.hand)
    stage.again().act(decide_step, generation=stage.run.generation, path="A", decision="happened", output=1)
    assert stage.made


def test_a_retry_that_is_made_earlier_changes_nothing(world: World, hands: list[Hand]) -> None:
    stage = Stage(world, hands[0])
    version = world.draw("S > A", policies={"A": Policy(retry=Retry(attempts=3, first_delay_s=60))})
    workflow = Workflow.objects.get(id=version.workflow_id)
    cancel_run(actor=stage.people.actor(Role.OWNER), run=stage.run, command_id=uuid4())
    started = start_run(actor=stage.people.actor(Role.OWNER), workflow=workflow, run_input=None)
    stage.run = Run.objects.get(id=started.run_id)
    stage.ended(LATER).act(retry_now, generation=1, path="A")
    assert not stage.made
