"""Approvals by several people, and forms: through the API, as people answer them."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.http import HttpResponse

from builder.workflows.models import Version, Workflow
from kit.errors import AppError
from runs.core.outcomes import Waits
from runs.engine.cancel import cancel_run
from runs.engine.resume import resume_run
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.models import Run, Vote, Wait
from runs.services import start_run
from teams.models import Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

DRAWING = "S > P ?approved> A, P ?rejected> B"
SCHEMA = {
    "type": "object",
    "required": ["street"],
    "properties": {"street": {"type": "string", "minLength": 1}, "n": {"type": "integer"}},
}


@pytest.fixture
def people(transactional_db: None) -> Cast:
    return cast()


@dataclass
class Desk:
    """One run of Acme that asks a question, and those who answer it."""

    world: World
    people: Cast
    hand: Hand

    def begin(self, asked: Waits, drawing: str = DRAWING, *, by: Role | None = None) -> UUID:
        self.world.workspace = self.people.acme
        version: Version = self.world.draw(drawing)
        if by is None:
            run_id = self.world.start(version).run_id
        else:
            workflow = Workflow.objects.get(id=version.workflow_id)
            run_id = start_run(actor=self.people.actor(by), workflow=workflow, run_input=None).run_id
        self.hand.finish(self.hand.take(), asked)
        return run_id

    def wait(self, run_id: UUID) -> Wait:
        return Wait.objects.get(run_id=run_id, status="open")

    def answer(self, wait: Wait, role: Role, decision: str = "approved", **more: Any) -> HttpResponse:
        body = {"command_id": str(uuid4()), "decision": decision, **more}
        address = f"/api/workspaces/{self.people.acme.slug}/waits/{wait.id}/answer"
        return self.people.client(role).post(address, json.dumps(body), content_type="application/json")  # type: ignore[return-value]

    def inbox(self) -> list[dict[str, Any]]:
        address = f"/api/workspaces/{self.people.acme.slug}/waits"
        items: list[dict[str, Any]] = self.people.client(Role.VIEWER).get(address).json()["items"]
        return items


@pytest.fixture
def desk(world: World, people: Cast, hands: list[Hand]) -> Desk:
    return Desk(world, people, hands[0])


def approval(seconds: float | None = None, **rules: Any) -> Waits:
    return Waits("approval", seconds, {"title": "Pay?", "data": {"sum": 7}, **rules})


def read(response: HttpResponse) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(response.content)
    return {"status": response.status_code, **body} if "status" not in body else body


# ---------------------------------------------------------------------- several people


def test_two_of_many_have_to_approve_and_each_counts_once(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2))
    wait = desk.wait(run_id)
    first = read(desk.answer(wait, Role.EDITOR, comment="fine"))
    assert first == {"status": 200, "decision": "approved", "decided": None, "approvals": 1, "rejections": 0}
    assert read(desk.answer(wait, Role.EDITOR))["code"] == "already_voted"
    assert desk.world.statuses(run_id)["P"] == "waiting"
    assert [vote["comment"] for vote in desk.inbox()[0]["votes"]] == ["fine"]
    assert read(desk.answer(wait, Role.ADMIN))["decided"] == "approved"
    assert desk.world.statuses(run_id)["A"] == "ready"
    output = desk.world.output(run_id, "P")
    assert [vote["by"] for vote in output["votes"]] == ["Editor", "Admin"]
    assert (output["decision"], output["by"], output["data"]) == ("approved", "Admin", {"sum": 7})
    assert desk.inbox() == []
    assert desk.answer(wait, Role.OWNER).status_code == 410


def test_two_people_at_the_same_moment_are_both_counted_and_decide_once(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2))
    wait = desk.wait(run_id)

    def vote(role: Role) -> int:
        try:
            return desk.answer(wait, role).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(vote, [Role.OWNER, Role.ADMIN, Role.EDITOR, Role.OPERATOR]))
    assert answers == [200, 200, 410, 410]
    assert Vote.objects.filter(wait=wait).count() == 2
    assert desk.world.events(run_id).count(("step.succeeded", "P")) == 1


def test_one_person_who_votes_five_times_at_once_counts_once(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2))
    given = Answer(desk.wait(run_id).id, "approved", "", None, desk.people.members[Role.EDITOR].id)

    def vote(_: int) -> str:
        with closing(Link(name="person")) as link:
            try:
                with link.connection.transaction():
                    answer_wait(link.connection, desk.world.command(run_id, "answer"), given)
            except AppError as problem:
                return problem.code
            return "counted"

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(vote, range(5))) == ["already_voted"] * 4 + ["counted"]
    assert desk.world.statuses(run_id)["P"] == "waiting"


def test_any_rejection_decides_unless_more_are_asked_for(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=3))
    desk.answer(desk.wait(run_id), Role.EDITOR)
    assert read(desk.answer(desk.wait(run_id), Role.ADMIN, "rejected"))["decided"] == "rejected"
    assert desk.world.statuses(run_id)["B"] == "ready"


def test_rejections_may_need_a_number_of_their_own(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2, rejections_needed=2))
    wait = desk.wait(run_id)
    desk.answer(wait, Role.EDITOR, "rejected")
    desk.answer(wait, Role.ADMIN)
    assert read(desk.answer(wait, Role.OWNER, "rejected"))["decided"] == "rejected"


def test_what_several_people_approve_is_changed_by_none_of_them(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2))
    refused = read(desk.answer(desk.wait(run_id), Role.EDITOR, data={"sum": 8}))
    assert refused["code"] == "answer_refused"
    assert refused["data"]["fields"][0]["field"] == "data"
    assert desk.answer(desk.wait(run_id), Role.EDITOR, data={"sum": 7}).status_code == 200


def test_old_votes_do_not_count_for_the_question_that_a_resume_opens(desk: Desk) -> None:
    run_id = desk.begin(approval(approvals_needed=2))
    old = desk.wait(run_id)
    desk.answer(old, Role.EDITOR)
    _command(desk.world, run_id, "cancel")
    _command(desk.world, run_id, "resume")
    desk.hand.finish(desk.hand.take(), approval(approvals_needed=2))
    new = desk.wait(run_id)
    assert desk.answer(old, Role.ADMIN).status_code == 410
    assert read(desk.answer(new, Role.ADMIN))["decided"] is None
    assert read(desk.answer(new, Role.EDITOR))["decided"] == "approved"


def test_an_answer_to_something_else_than_what_is_asked_is_refused(desk: Desk) -> None:
    run_id = desk.begin(approval())
    shown = desk.inbox()[0]["shown_hash"]
    assert read(desk.answer(desk.wait(run_id), Role.EDITOR, seen="0" * 64))["code"] == "question_changed"
    assert desk.answer(desk.wait(run_id), Role.EDITOR, seen=shown).status_code == 200


# ---------------------------------------------------------------------- who may


def test_whoever_started_the_run_may_not_approve_it_where_the_author_says_so(desk: Desk) -> None:
    run_id = desk.begin(approval(no_self_approval=True), by=Role.EDITOR)
    refused = read(desk.answer(desk.wait(run_id), Role.EDITOR))
    assert (refused["status"], refused["code"]) == (403, "not_yours_to_answer")
    assert desk.answer(desk.wait(run_id), Role.OPERATOR).status_code == 200


def test_whoever_changed_what_the_run_works_on_may_not_approve_it_either(desk: Desk) -> None:
    run_id = desk.begin(approval(no_self_approval=True), by=Role.EDITOR)
    for operation, role in (("decide", Role.ADMIN), ("retry_now", Role.OPERATOR)):
        desk.world.connection.execute(
            "INSERT INTO runs_command (id, run_id, operation, actor, user_id, result, created_at)"
            " VALUES (gen_random_uuid(), %s, %s, 'x', %s, '{}', now())",
            (run_id, operation, desk.people.members[role].id),
        )
    assert desk.answer(desk.wait(run_id), Role.ADMIN).status_code == 403
    assert desk.answer(desk.wait(run_id), Role.OPERATOR).status_code == 200


def test_a_command_remembers_the_person_who_gave_it(desk: Desk) -> None:
    run_id = desk.begin(approval(), by=Role.EDITOR)
    desk.answer(desk.wait(run_id), Role.OPERATOR)
    found = Run.objects.get(id=run_id).commands.get(operation="answer")
    assert found.user == desk.people.members[Role.OPERATOR]


def test_only_the_roles_that_the_author_names_may_answer(desk: Desk) -> None:
    run_id = desk.begin(approval(roles=["admin", "owner"]))
    refused = read(desk.answer(desk.wait(run_id), Role.EDITOR))
    assert refused["code"] == "not_yours_to_answer"
    assert refused["data"]["roles"] == ["admin", "owner"]
    assert desk.answer(desk.wait(run_id), Role.ADMIN).status_code == 200


# ---------------------------------------------------------------------- deadlines and pauses


def test_a_deadline_may_count_as_rejected(desk: Desk) -> None:
    run_id = desk.begin(approval(0.0, on_expire="reject", approvals_needed=2))
    assert desk.answer(Wait.objects.get(run_id=run_id), Role.EDITOR).status_code == 410
    desk.world.sweep()
    output = desk.world.output(run_id, "P")
    assert (output["decision"], output["by"], output["votes"]) == ("rejected", "sweeper", [])
    assert desk.world.statuses(run_id)["B"] == "ready"


def test_a_deadline_fails_the_step_where_nothing_else_is_said(desk: Desk) -> None:
    run_id = desk.begin(approval(0.0))
    desk.world.sweep()
    step = desk.world.steps(run_id)["P"]
    assert step.status == "failed"
    assert json.loads(step.error or "")["code"] == "wait_expired"


# ---------------------------------------------------------------------- forms


def form(**more: Any) -> Waits:
    return Waits("form", None, {"title": "Where?", "schema": SCHEMA, **more})


def test_a_form_is_checked_on_the_server_and_each_wrong_field_is_named(desk: Desk) -> None:
    run_id = desk.begin(form(), "S > F > A")
    refused = read(desk.answer(desk.wait(run_id), Role.EDITOR, "submitted", data={"n": "many"}))
    assert (refused["status"], refused["code"]) == (400, "answer_refused")
    assert {field["field"] for field in refused["data"]["fields"]} == {"data", "data.n"}
    assert desk.world.statuses(run_id)["F"] == "waiting"
    filled = {"street": "Main", "n": 5}
    assert read(desk.answer(desk.wait(run_id), Role.EDITOR, "submitted", data=filled))["status"] == 200
    assert desk.world.output(run_id, "F") == filled
    assert desk.world.statuses(run_id)["A"] == "ready"


def test_a_form_is_not_approved_and_an_approval_is_not_filled_in(desk: Desk) -> None:
    run_id = desk.begin(form(), "S > F > A")
    assert read(desk.answer(desk.wait(run_id), Role.EDITOR, "approved"))["code"] == "answer_refused"
    run_id = desk.begin(approval())
    assert read(desk.answer(desk.wait(run_id), Role.EDITOR, "submitted", data={}))["code"] == "answer_refused"


def test_a_form_whose_schema_takes_for_ever_does_not_hold_the_run(desk: Desk) -> None:
    slow = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    run_id = desk.begin(form(schema=slow), "S > F > A")
    refused = read(desk.answer(desk.wait(run_id), Role.EDITOR, "submitted", data={"a": "a" * 40 + "!"}))
    assert refused["code"] == "answer_refused"
    assert desk.world.statuses(run_id)["F"] == "waiting"


def test_a_large_form_is_kept_by_reference(desk: Desk) -> None:
    run_id = desk.begin(form(), "S > F > A")
    assert desk.answer(desk.wait(run_id), Role.EDITOR, "submitted", data={"street": "x" * 20_000}).status_code == 200
    assert desk.world.steps(run_id)["F"].output_ref is not None


def test_an_answer_during_a_pause_is_taken_and_nothing_starts(desk: Desk) -> None:
    run_id = desk.begin(approval())
    desk.world.connection.execute("UPDATE runs_run SET status = 'paused' WHERE id = %s", (run_id,))
    assert desk.answer(desk.wait(run_id), Role.EDITOR).status_code == 200
    assert desk.world.statuses(run_id)["A"] == "ready"
    assert desk.hand.claim().result == "empty"


def test_a_callback_is_no_question_for_people(desk: Desk) -> None:
    run_id = desk.begin(Waits("callback", None, {}), "S > K > A")
    assert desk.inbox() == []
    assert read(desk.answer(desk.wait(run_id), Role.EDITOR))["code"] == "answer_refused"


def _command(world: World, run_id: UUID, operation: str) -> None:
    act = {"cancel": cancel_run, "resume": resume_run}[operation]
    with world.connection.transaction():
        act(world.connection, world.command(run_id, operation))
