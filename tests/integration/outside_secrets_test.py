"""Promise P9 at the border: whatever enters a run from outside holds no value of a connection once it is stored.

One test walks through every door that takes a value, with a secret in it, and then searches the whole database.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import connection as database_connection
from django.test import Client
from django.utils import timezone

from builder.connections.masking import MARK
from builder.connections.services import create_connection
from builder.workflows.models import Version
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.engine.callback import issue
from runs.models import FailureGroup, Run, StepRun, Trigger, Wait
from runs.triggers.sweep import fire_due
from teams.models import Role
from tests.contract.route_table import ALERT, ROUTES, RUN, STEP, TRIGGER, WORKFLOW, WORKSPACE
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast
from tests.secret_search import database, leaks
from tests.staging import lose

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = 'tok/en+with "quotes" & 100%=signs-4712'
BROKEN = Failed(Error("broken", "It broke."))
SENTENCE = f"please use {SECRET} for this"
NAME = f"x-{SECRET}"


@dataclass
class Walk:
    """Acme with one connection, and an owner who pastes its token wherever the API takes something."""

    world: World
    hand: Hand
    people: Cast = field(default_factory=cast)

    def __post_init__(self) -> None:
        self.world.workspace = self.people.acme

    @property
    def base(self) -> str:
        return f"/api/workspaces/{self.people.acme.slug}"

    def connect(self) -> None:
        owner, given = self.people.actor(Role.OWNER), {"base_url": "https://bank.example", "token": SECRET}
        create_connection(actor=owner, workspace=self.people.acme, name="bank", kind="http", settings=given)

    def send(self, address: str, body: Any, *, method: str = "post") -> Any:
        client = self.people.client(Role.OWNER)
        return getattr(client, method)(f"{self.base}/{address}", json.dumps(body), content_type="application/json")

    def taken(self, address: str, body: Any) -> Any:
        answer = self.send(address, body)
        assert answer.status_code in (200, 201, 202), answer.content
        return answer.json()

    def refused(self, address: str, body: Any, *, code: str = "holds_secret", method: str = "post") -> None:
        answer = self.send(address, body, method=method)
        assert (answer.status_code, answer.json()["code"]) == (400, code), answer.content
        assert leaks("answer", answer.content.decode(), [SECRET]) == []

    def command(self, run: UUID, **more: Any) -> dict[str, Any]:
        return {"command_id": str(uuid4()), "generation": Run.objects.get(id=run).generation, **more}

    def ended(self, outcome: Any, drawing: str = "S > A:delay > B") -> UUID:
        """A run whose step A came to this."""
        run = self.world.start(self.world.draw(drawing, configs={"A": {"seconds": 1}})).run_id
        held = self.hand.take()
        assert held.run_id == run
        self.hand.finish(held, outcome)
        return run

    def trigger(self, kind: str, version: Version, **given: Any) -> Trigger:
        body = {"kind": kind, "name": f"t{uuid4().hex[:6]}", "enabled": True, "settings": given}
        return Trigger.objects.get(id=self.taken(f"workflows/{version.workflow_id}/triggers", body)["id"])

    def put_away(self) -> None:
        """What is left of a door's run is nobody's next step."""
        while (held := self.hand.claim().held) is not None:
            self.hand.finish(held, Succeeded(None))


# ------------------------------------------------------------------ the doors


def start_a_run(walk: Walk) -> None:
    address = f"workflows/{walk.world.draw('S > A').workflow_id}/runs"
    found = walk.taken(address, {"input": {"a": [SENTENCE], SECRET: 1}, "idempotency_key": "k1"})
    again = walk.taken(address, {"input": {"a": [SENTENCE], SECRET: 1}, "idempotency_key": "k1"})
    assert again["id"] == found["id"], "the same request is known although what is kept of it is masked"
    for names in ({"idempotency_key": NAME}, {"limit": {"key": NAME, "at_most": 1}}, {"breakpoints": [{"path": NAME}]}):
        walk.refused(address, {"input": None, **names})


def call_back_while_it_waits(walk: Walk) -> None:
    run = walk.world.start(walk.world.draw("S > K:wait_for_callback > B")).run_id
    walk.hand.finish(walk.hand.take(), Waits("callback", None, {"title": "the bank"}))
    _call_back(walk, run, "taken", big="")
    assert MARK in str(walk.world.output(run, "K"))


def call_back_before_it_waits(walk: Walk) -> None:
    run = walk.world.start(walk.world.draw("S > K:wait_for_callback > B")).run_id
    _call_back(walk, run, "kept")


def _token(walk: Walk, run: UUID) -> str:
    return issue(walk.world.connection, run, {"it": "K"}, secret=settings.SECRET_KEY)["it"]


def _call_back(walk: Walk, run: UUID, result: str, *, big: str = "x" * 20_000) -> None:
    token = _token(walk, run)
    body = json.dumps({"said": SENTENCE, "link": f"https://pawl.example/api/callbacks/{token}", "big": big})
    answer = Client().post(f"/api/callbacks/{token}", body, content_type="application/json")
    assert answer.json()["result"] == result
    assert not [where for where, text in database(_url()) if token in text], "the link itself is a secret, too"


def fill_in_a_form(walk: Walk) -> None:
    run = walk.ended(Waits("form", None, {"title": "Where?", "schema": {"type": "object"}}))
    _answer(walk, run, decision="submitted", data={"street": SENTENCE})


def approve_with_a_correction(walk: Walk) -> None:
    run = walk.ended(Waits("approval", None, {"title": "Pay?", "data": 7}), "S > A > B")
    _answer(walk, run, decision="approved", comment=SENTENCE, data={"pay_to": SENTENCE})


def vote_with_a_comment(walk: Walk) -> None:
    run = walk.ended(Waits("approval", None, {"title": "Pay?", "approvals_needed": 2}), "S > A > B")
    _answer(walk, run, decision="approved", comment=SENTENCE)


def _answer(walk: Walk, run: UUID, **answer: Any) -> None:
    wait = Wait.objects.get(run_id=run, status="open")
    walk.taken(f"waits/{wait.id}/answer", {"command_id": str(uuid4()), **answer})


def supply_an_output(walk: Walk) -> None:
    run = walk.ended(BROKEN)
    walk.taken(f"runs/{run}/steps/A/supply", walk.command(run, output={"a": SENTENCE}))


def say_that_it_happened(walk: Walk) -> None:
    run = walk.world.start(walk.world.draw("S > A > B")).run_id
    held = walk.hand.take()
    walk.world.connection.execute(
        "UPDATE runs_steprun SET delivery = 'at_most_once' WHERE id = %s", (held.step_run_id,)
    )
    lose(walk.world, walk.hand)
    walk.hand = Hand(walk.hand.link)
    assert StepRun.objects.get(id=held.step_run_id).status == "needs_decision"
    body = walk.command(run, decision="happened", output={"a": SENTENCE})
    walk.taken(f"runs/{run}/steps/A/decide", body)


def edit_an_input(walk: Walk) -> None:
    run = walk.ended(BROKEN)
    body = walk.command(run, input={"seconds": 1, "note": SENTENCE})
    walk.refused(f"runs/{run}/steps/A/edit-input", body, code="bad_step_input")
    walk.refused(
        f"runs/{run}/preview", {"operation": "edit_input", "path": "A", "input": {"n": SENTENCE}}, code="bad_step_input"
    )


def set_a_breakpoint(walk: Walk) -> None:
    run = walk.world.start(walk.world.draw("S > A")).run_id
    body = {"command_id": str(uuid4()), "breakpoints": [{"path": NAME}]}
    walk.refused(f"runs/{run}/breakpoints", body, method="put")


def act_on_many(walk: Walk) -> None:
    body = {"command_id": str(uuid4()), "operation": "cancel", "filter": {"q": NAME}}
    walk.refused("bulk", body)


def deliver_to_a_webhook(walk: Walk) -> None:
    trigger = walk.trigger("webhook", walk.world.draw("S > A"), security="none", headers=["X-Note"])
    parts = [
        (json.dumps({"a": SENTENCE}).encode(), "application/json"),
        (SENTENCE.encode(), "text/plain"),
        (b"\xff\xfe" + SENTENCE.encode() + b"\xff", "application/octet-stream"),
        (b"\xff\xff\xff\xff" + SECRET.encode(), "application/octet-stream"),
    ]
    for body, kind in parts:
        answer = Client().post(
            f"/hooks/{trigger.path}",
            body,
            content_type=kind,
            query_params={"q": SECRET},
            headers={"X-Note": SENTENCE, "X-Delivery-Id": f"{SECRET} {len(body)}", "User-Agent": SENTENCE},
        )
        assert answer.status_code == 202, answer.content
        assert MARK in str(json.loads(Run.objects.get(id=answer.json()["run_id"]).input))


def make_a_trigger(walk: Walk) -> None:
    version = walk.world.draw("S > A")
    address = f"workflows/{version.workflow_id}/triggers"
    schedule = {"cron": "0 2 * * *", "input": {"a": SENTENCE}}
    walk.refused(address, {"kind": "schedule", "name": "n", "enabled": True, "settings": schedule})
    plain = walk.trigger("schedule", version, cron="0 2 * * *")
    walk.refused(f"triggers/{plain.id}", {"settings": schedule}, method="patch")
    walk.refused(f"triggers/{plain.id}", {"name": NAME}, method="patch")
    end = {"source": str(walk.world.draw("S > A").workflow_id), "input": {"a": SENTENCE}}
    walk.refused(address, {"kind": "run_end", "name": "n", "enabled": True, "settings": end})


def label_a_run(walk: Walk) -> None:
    run = walk.world.start(walk.world.draw("S > A")).run_id
    walk.refused(f"runs/{run}/labels", {"add": [SECRET]}, method="put")


def keep_a_view(walk: Walk) -> None:
    walk.refused("views", {"name": NAME, "query": "status=failed"})
    walk.refused("views", {"name": "mine", "query": f"q={SECRET}"})
    view = walk.taken("views", {"name": f"v{uuid4().hex[:6]}", "query": "status=failed"})
    walk.refused(f"views/{view['id']}", {"name": NAME}, method="patch")


def note_what_became_of_failures(walk: Walk) -> None:
    group = FailureGroup.objects.create(
        workspace=walk.people.acme, fingerprint=uuid4().hex[:16], kind="delay", code="broken", pattern="It broke.",
        first_at=timezone.now(), last_at=timezone.now(), seen_count=1,
    )  # fmt: skip
    walk.refused(f"failures/{group.fingerprint}", {"state": "handled", "note": SENTENCE}, method="put")


def make_an_alert(walk: Walk) -> None:
    walk.refused("alerts", {**ALERT, "name": NAME})
    alert = walk.taken("alerts", {**ALERT, "name": f"a{uuid4().hex[:6]}"})
    walk.refused(f"alerts/{alert['id']}", {"name": NAME}, method="patch")


DOORS: dict[Callable[[Walk], None], tuple[tuple[str, str], ...]] = {
    start_a_run: (("POST", f"{WORKFLOW}/runs"),),
    call_back_while_it_waits: (("POST", "callbacks/{token}"),),
    call_back_before_it_waits: (("POST", "callbacks/{token}"),),
    fill_in_a_form: (("POST", f"{WORKSPACE}/waits/{{wait_id}}/answer"),),
    approve_with_a_correction: (("POST", f"{WORKSPACE}/waits/{{wait_id}}/answer"),),
    vote_with_a_comment: (("POST", f"{WORKSPACE}/waits/{{wait_id}}/answer"),),
    supply_an_output: (("POST", f"{STEP}/supply"),),
    say_that_it_happened: (("POST", f"{STEP}/decide"),),
    edit_an_input: (("POST", f"{STEP}/edit-input"), ("POST", f"{RUN}/preview")),
    set_a_breakpoint: (("PUT", f"{RUN}/breakpoints"),),
    act_on_many: (("POST", f"{WORKSPACE}/bulk"),),
    deliver_to_a_webhook: (),  # below /hooks
    label_a_run: (("PUT", f"{RUN}/labels"),),
    keep_a_view: (("POST", f"{WORKSPACE}/views"), ("PATCH", f"{WORKSPACE}/views/{{view_id}}")),
    note_what_became_of_failures: (("PUT", f"{WORKSPACE}/failures/{{fingerprint}}"),),
    make_an_alert: (("POST", f"{WORKSPACE}/alerts"), ("PATCH", f"{WORKSPACE}/alerts/{{alert_id}}")),
    make_a_trigger: (("POST", f"{WORKFLOW}/triggers"), ("PATCH", TRIGGER)),
}
# Doors to runs and triggers that keep only ids, numbers, times and words of a list, or nothing at all.
WITHOUT_VALUES = {
    ("POST", f"{RUN}/resume"), ("POST", f"{RUN}/fork"), ("POST", f"{RUN}/cancel"), ("POST", f"{RUN}/pause"),
    ("POST", f"{RUN}/unpause"), ("POST", f"{STEP}/skip"), ("POST", f"{STEP}/retry-now"),
    ("POST", f"{STEP}/callback-link"), ("POST", f"{WORKSPACE}/bulk/preview"),
    ("POST", f"{WORKSPACE}/bulk/{{bulk_id}}/stop"), ("POST", f"{WORKSPACE}/bulk/{{bulk_id}}/continue"),
    ("PUT", f"{WORKSPACE}/retention"), ("POST", f"{TRIGGER}/backfill"), ("POST", f"{TRIGGER}/secret"),
    ("POST", f"{WORKSPACE}/alerts/{{alert_id}}/test"), ("POST", f"{WORKSPACE}/alerts/{{alert_id}}/secret"),
    ("POST", f"{WORKSPACE}/schedule-preview"), ("PUT", f"{WORKSPACE}/limit"), ("PUT", "lanes/{lane}/limit"),
}  # fmt: skip
# What an author keeps on purpose (a graph, the connections themselves) enters no run by itself.
OF_AUTHORS = ("connections", "workflows", "members", "policies", "tokens", "people")


@pytest.fixture
def walk(world: World, hands: list[Hand]) -> Walk:
    return Walk(world, hands[0])


def _url() -> str:
    found = database_connection.settings_dict
    return f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


def stored() -> list[str]:
    return [leak for where, text in database(_url()) for leak in leaks(where, text, [SECRET])]


def test_whatever_enters_a_run_from_outside_is_masked_before_it_is_stored(walk: Walk) -> None:
    walk.connect()
    for door in DOORS:
        door(walk)
        assert stored() == [], door.__name__
        walk.put_away()


def test_what_a_schedule_was_given_before_there_was_the_connection_is_masked_when_it_fires(walk: Walk) -> None:
    trigger = walk.trigger("schedule", walk.world.draw("S > A"), cron="0 2 * * *", input={"a": SENTENCE})
    walk.connect()
    walk.world.connection.execute(
        "UPDATE runs_trigger SET next_at = now(), decided_to = now() - interval '25 hours' WHERE id = %s", (trigger.id,)
    )
    fire_due(walk.world.connection)
    run = Run.objects.get(trigger_id=trigger.id)
    assert leaks("input", run.input, [SECRET]) == []
    assert MARK in str(json.loads(run.input))


def test_a_value_that_holds_no_secret_comes_in_as_it_is(walk: Walk) -> None:
    walk.connect()
    given = {"a": ["größe \u2028", 2**62, None, 1.5], "": {"b": MARK}}
    address = f"workflows/{walk.world.draw('S > A').workflow_id}/runs"
    found = walk.taken(address, {"input": given})
    assert json.loads(Run.objects.get(id=found["id"]).input) == given


def test_another_workspaces_secrets_are_no_business_of_this_one(walk: Walk) -> None:
    """Else a stranger could find out by trying whether a text is somebody's password."""
    walk.connect()
    walk.world.workspace = walk.people.other
    run = walk.world.start(walk.world.draw("S > K:wait_for_callback")).run_id
    Client().post(f"/api/callbacks/{_token(walk, run)}", json.dumps(SECRET), content_type="application/json")
    walk.hand.finish(walk.hand.take(), Waits("callback", None, {}))
    assert walk.world.output(run, "K") == SECRET


def test_every_door_that_writes_is_walked_through_or_takes_no_value() -> None:
    walked = {route for routes in DOORS.values() for route in routes}
    doors = {
        (method, path) for method, path in ROUTES if method in ("POST", "PUT", "PATCH") and not _is_of_authors(path)
    }
    assert doors == walked | WITHOUT_VALUES


def _is_of_authors(path: str) -> bool:
    parts = path.removeprefix(WORKSPACE).strip("/").split("/")
    return parts[0] in OF_AUTHORS and parts[-1] not in ("runs", "triggers")
