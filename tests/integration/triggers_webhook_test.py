"""Webhooks: who may deliver, what a run gets to see, replays, answers, and what a stranger learns."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from runs.api import hooks
from runs.models import Firing, Run, Trigger
from runs.triggers import services
from runs.triggers.errors import BadTrigger
from runs.triggers.signature import digest, signed
from teams.access import SYSTEM
from tests.engine import World
from tests.staging import failpoints

pytestmark = pytest.mark.django_db(transaction=True)

OPEN = {"security": "none"}
BIG = 7615917337495251231


@pytest.fixture
def sender() -> Client:
    """Somebody without a session, from whom Django would want a CSRF token."""
    return Client(enforce_csrf_checks=True)


def hooked(world: World, drawing: str = "S > O", *, configs: Any = None, **settings: Any) -> Trigger:
    version = world.draw(drawing, configs=configs or {"O": {"value": "{{ run.input.body }}"}})
    return services.create_trigger(
        actor=SYSTEM, workflow=version.workflow, kind="webhook", name="orders", settings={**OPEN, **settings}
    )


def deliver(sender: Client, trigger: Trigger, body: Any = None, **headers: str) -> HttpResponse:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = headers.pop("content_type", "application/json")
    return sender.post(f"/hooks/{trigger.path}", raw, content_type=kind, headers=headers)  # type: ignore[return-value]


def seen(answer: Any) -> Any:
    """The input of the run that was started."""
    return json.loads(Run.objects.get(id=answer.json()["run_id"]).input)


def code(answer: Any) -> tuple[int, str]:
    assert answer["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


# ---------------------------------------------------------------------- what a run gets to see


def test_a_delivery_starts_a_run_and_is_answered_at_once(world: World, sender: Client) -> None:
    trigger = hooked(world)
    answer = deliver(sender, trigger, {"order": BIG, "other": 17169973925117969})
    assert answer.status_code == 202, answer.content
    run = Run.objects.get(id=answer.json()["run_id"])
    assert (run.trigger, run.trigger_id, run.actor) == ("webhook", trigger.id, "webhook orders")
    assert answer["location"] == f"/hooks/{trigger.path}/runs/{run.id}"
    world.work()
    assert world.output(run.id, "O") == {"order": BIG, "other": 17169973925117969}
    assert not answer.cookies
    firing = Firing.objects.get(trigger=trigger)
    assert (firing.status, firing.run_id) == ("fired", run.id)


RAW = b'{"id": 7615917337495251231, "tiny": 0.1,  "minus": -0, "name": "\xc3\xa4"}\n'


def test_a_run_sees_method_headers_query_body_and_the_raw_body(world: World, sender: Client) -> None:
    trigger = hooked(world, headers=["X-Kind"], methods=["POST", "PUT"])
    answer = sender.put(
        f"/hooks/{trigger.path}?a=1&b=2&b=3&empty=", RAW, content_type="application/json",
        headers={"X-Kind": "order", "X-Other": "no", "Cookie": "c=1", "Authorization": "Bearer x", "User-Agent": "u"},
    )  # fmt: skip
    found = seen(answer)
    assert found["method"] == "PUT"
    assert found["headers"] == {"content-type": "application/json", "user-agent": "u", "x-kind": "order"}
    assert found["query"] == {"a": "1", "b": ["2", "3"], "empty": ""}
    assert found["body"] == {"id": BIG, "tiny": 0.1, "minus": 0, "name": "ä"}
    assert found["raw"] == {"encoding": "utf-8", "data": RAW.decode()}


@pytest.mark.parametrize(
    ("raw", "kind", "body", "encoding"),
    [
        (b"\x00\xff\xfe", "application/octet-stream", None, "base64"),
        (b"hello", "text/plain; charset=utf-8", "hello", "utf-8"),
        (b"a=1&b=2&b=3", "application/x-www-form-urlencoded", {"a": "1", "b": ["2", "3"]}, "utf-8"),
        (b"[1]", "application/vnd.api+json", [1], "utf-8"),
        (b"", "application/json", None, "utf-8"),
        (b"<a/>", "application/xml", None, "utf-8"),
    ],
)  # fmt: skip
def test_a_body_of_any_kind_is_kept_as_it_came(
    world: World, sender: Client, raw: bytes, kind: str, body: Any, encoding: str
) -> None:
    found = seen(deliver(sender, hooked(world), raw, content_type=kind))
    assert (found["body"], found["raw"]["encoding"]) == (body, encoding)


def test_a_run_may_start_with_what_the_body_says_alone(world: World, sender: Client) -> None:
    schema = {"type": "object", "required": ["total"]}
    trigger = hooked(world, configs={"S": {"input_schema": schema}}, input="body")
    assert seen(deliver(sender, trigger, {"total": BIG})) == {"total": BIG}
    assert code(deliver(sender, trigger, {"sum": 1})) == (400, "bad_run_input")


@pytest.mark.parametrize(
    ("raw", "refused"),
    [
        (b'{"a": ', (400, "malformed_json")),
        (b'{"a": NaN}', (400, "malformed_json")),
        (b'{"a": 1e400}', (400, "not_json")),
        (b"[" * 500 + b"]" * 500, (400, "malformed_json")),
        (b'{"a": "' + b"x" * 300_000 + b'"}', (413, "body_too_large")),
    ],
    ids=["cut off", "NaN", "too large a number", "too deep", "too large"],
)
def test_a_body_that_cannot_be_kept_is_refused_and_starts_nothing(
    world: World, sender: Client, raw: bytes, refused: tuple[int, str]
) -> None:
    trigger = hooked(world)
    assert code(deliver(sender, trigger, raw)) == refused
    assert not Run.objects.exists()
    assert not Firing.objects.exclude(status="failed").exists()


# ---------------------------------------------------------------------- who may deliver


def test_a_signed_delivery_is_taken_and_others_are_not(world: World, sender: Client) -> None:
    trigger = hooked(world, security="hmac")
    secret, raw, now = services.secret_of(trigger) or "", b'{"a": 1}', int(time.time())
    right = signed(secret, raw, at=now)
    assert deliver(sender, trigger, raw, **{"X-Pawl-Signature": right}).status_code == 202
    for wrong in ("", signed("x", raw, at=now), signed(secret, raw, at=now - 400), signed(secret, b"{}", at=now)):
        assert code(deliver(sender, trigger, raw, **{"X-Pawl-Signature": wrong})) == (401, "bad_signature")
    assert Run.objects.count() == 1


def test_a_signature_of_the_body_alone_is_taken_where_the_sender_knows_no_other(world: World, sender: Client) -> None:
    trigger = hooked(world, security="hmac", signature="body", signature_header="X-Hub-Signature-256")
    secret, raw = services.secret_of(trigger) or "", b'{"a": 1}'
    header = {"X-Hub-Signature-256": "sha256=" + digest(secret, raw)}
    assert deliver(sender, trigger, raw, **header).status_code == 202
    assert code(deliver(sender, trigger, raw + b" ", **header)) == (401, "bad_signature")


def test_a_bearer_shows_the_secret_and_a_new_secret_shuts_out_the_old(world: World, sender: Client) -> None:
    trigger = hooked(world, security="bearer")
    old = services.secret_of(trigger)
    assert deliver(sender, trigger, 1, Authorization=f"Bearer {old}").status_code == 202
    assert code(deliver(sender, trigger, 1)) == (401, "bad_signature")
    new = services.change_secret(actor=SYSTEM, trigger=trigger)
    assert code(deliver(sender, trigger, 1, Authorization=f"Bearer {old}")) == (401, "bad_signature")
    assert deliver(sender, trigger, 1, Authorization=f"Bearer {new}").status_code == 202


def test_a_stranger_cannot_tell_a_disabled_webhook_from_one_that_never_was(world: World, sender: Client) -> None:
    trigger = hooked(world, security="hmac")
    services.change_trigger(actor=SYSTEM, trigger=trigger, enabled=False)
    disabled, unknown = deliver(sender, trigger, 1), sender.post("/hooks/nothing", b"1", content_type="text/plain")
    assert code(disabled) == code(unknown) == (404, "webhook_not_found")
    assert disabled.json() == unknown.json()  # type: ignore[attr-defined]
    assert sender.post("/hooks/%00", b"1", content_type="text/plain").status_code == 404


def test_other_methods_are_refused(world: World, sender: Client) -> None:
    trigger = hooked(world)
    for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        answer = sender.generic(method, f"/hooks/{trigger.path}")
        assert answer.status_code == 405, method
    assert not Run.objects.exists()


def test_a_sender_that_accepts_anything_but_json_is_answered_all_the_same(world: World, sender: Client) -> None:
    assert deliver(sender, hooked(world), 1, Accept="text/html").status_code == 202


def test_too_many_deliveries_in_a_minute_are_sent_away_for_a_while(world: World, sender: Client) -> None:
    trigger = hooked(world, per_minute=3)
    answers = [deliver(sender, trigger, n, **{"X-Delivery-Id": str(n)}) for n in range(5)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429, 429]
    assert 1 <= int(answers[-1]["retry-after"]) <= 60
    assert deliver(sender, trigger, 0, **{"X-Delivery-Id": "0"}).status_code == 202  # a replay starts nothing
    assert Run.objects.count() == 3


def test_no_two_webhooks_have_one_address(world: World) -> None:
    """n8n-io/n8n#23908: a copied webhook kept its path, and one of the two was left out at random. Importing a workflow
    (node-red/node-red#2713, PR 2698) cannot go wrong here as yet: there is no import.
    """
    version = world.draw("S > O")
    made = [
        services.create_trigger(actor=SYSTEM, workflow=version.workflow, kind="webhook", name="same", settings=OPEN)
        for _ in range(3)
    ]
    assert len({each.path for each in made}) == 3
    with pytest.raises(BadTrigger):
        services.create_trigger(
            actor=SYSTEM,
            workflow=version.workflow,
            kind="webhook",
            name="same",
            settings={**OPEN, "path": made[0].path},
        )


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"headers": ["Authorization"]}, "settings.headers"),
        ({"headers": ["a b"]}, "settings.headers.0"),
        ({"methods": []}, "settings.methods"),
        ({"methods": ["TRACE"]}, "settings.methods.0"),
        ({"security": "maybe"}, "settings.security"),
        ({"max_bytes": 10**9}, "settings.max_bytes"),
        ({"wait_s": 0}, "settings.wait_s"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(world: World, settings: Any, field: str) -> None:
    with pytest.raises(BadTrigger) as refused:
        hooked(world, **settings)
    assert refused.value.data["fields"][0]["field"] == field


# ---------------------------------------------------------------------- again


def test_a_delivery_that_comes_again_is_answered_with_the_same_run(world: World, sender: Client) -> None:
    trigger = hooked(world)
    first, again = (deliver(sender, trigger, {"a": 1}, **{"X-Delivery-Id": "d1"}) for _ in range(2))
    assert (first.json().get("replayed"), again.json().get("replayed")) == (False, True)  # type: ignore[attr-defined]
    assert first.json()["run_id"] == again.json()["run_id"]  # type: ignore[attr-defined]
    assert Run.objects.count() == 1
    other = deliver(sender, trigger, {"a": 2}, **{"X-Delivery-Id": "d1"})
    assert code(other) == (409, "delivery_reused")
    assert deliver(sender, trigger, {"a": 1}, **{"X-Delivery-Id": "x" * 5_000}).status_code == 202


def test_a_recorded_delivery_that_is_played_again_starts_nothing_under_whatever_name(
    world: World, sender: Client
) -> None:
    trigger = hooked(world, security="hmac")
    raw = b'{"pay": 100}'
    signature = signed(services.secret_of(trigger) or "", raw, at=int(time.time()))
    first = deliver(sender, trigger, raw, **{"X-Pawl-Signature": signature, "X-Delivery-Id": "d1"})
    for name in ({}, {"X-Delivery-Id": "d2"}, {"X-Delivery-Id": "d1"}):
        again = deliver(sender, trigger, raw, **{"X-Pawl-Signature": f"{signature},v1={'0' * 64}", **name})
        assert again.json()["run_id"] == first.json()["run_id"]  # type: ignore[attr-defined]
    changed = sender.post(
        f"/hooks/{trigger.path}?to=me", raw, content_type="application/json", headers={"X-Pawl-Signature": signature}
    )
    assert code(changed) == (409, "delivery_reused")
    assert Run.objects.count() == 1


def test_the_same_delivery_eight_times_at_once_is_one_run(world: World) -> None:
    trigger = hooked(world, per_minute=None)
    together = threading.Barrier(8)

    def one(_: int) -> Any:
        try:
            together.wait()
            return deliver(Client(), trigger, {"a": 1}, **{"X-Delivery-Id": "d1"}).json()["run_id"]  # type: ignore[attr-defined]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(one, range(8)))) == 1
    assert Run.objects.count() == Firing.objects.count() == 1


def test_a_delivery_that_failed_in_the_middle_left_nothing_and_may_be_sent_again(world: World, sender: Client) -> None:
    trigger = hooked(world)
    sender.raise_request_exception = False
    with failpoints("in_delivery:raise"):
        assert deliver(sender, trigger, 1, **{"X-Delivery-Id": "d1"}).status_code == 500
    assert not Run.objects.exists()
    assert not Firing.objects.exists()
    assert deliver(sender, trigger, 1, **{"X-Delivery-Id": "d1"}).status_code == 202


def test_what_cannot_start_is_failed_in_the_ledger_and_starts_when_it_is_sent_again(
    world: World, sender: Client
) -> None:
    trigger = hooked(world)
    workflows = type(trigger.workflow).objects.filter(id=trigger.workflow_id)
    workflows.update(archived_at="2026-01-01T00:00Z")
    refused = deliver(sender, trigger, 1, **{"X-Delivery-Id": "d1"})
    assert code(refused) == (503, "webhook_not_ready")
    assert "archive" not in refused.content.decode()
    firing = Firing.objects.get(trigger=trigger)
    assert (firing.status, firing.reason) == ("failed", "target_archived")
    workflows.update(archived_at=None)
    assert deliver(sender, trigger, 1, **{"X-Delivery-Id": "d1"}).status_code == 202
    assert Firing.objects.get(trigger=trigger).status == "fired"


def test_an_input_that_the_workflow_does_not_take_is_refused_with_the_fields(world: World, sender: Client) -> None:
    schema = {"type": "object", "properties": {"body": {"type": "object", "required": ["total"]}}}
    trigger = hooked(world, configs={"S": {"input_schema": schema}})
    answer = deliver(sender, trigger, {"sum": 1})
    assert code(answer) == (400, "bad_run_input")
    assert Firing.objects.get(trigger=trigger).reason == "bad_run_input"


# ---------------------------------------------------------------------- answers when it is done


@pytest.fixture
def working(world: World) -> Iterator[World]:
    """A worker beside the request."""
    ending = threading.Event()

    def work() -> None:
        while not ending.wait(0.05):
            world.work()

    thread = threading.Thread(target=work)
    thread.start()
    yield world
    ending.set()
    thread.join()


def test_a_sender_that_waits_gets_the_runs_output(working: World, sender: Client) -> None:
    trigger = hooked(working, answer="when_done", wait_s=20)
    answer = deliver(sender, trigger, {"order": BIG})
    assert answer.status_code == 200, answer.content
    assert answer.json()["output"] == {"order": BIG}  # type: ignore[attr-defined]


def test_a_run_that_failed_is_no_answer(working: World, sender: Client) -> None:
    trigger = hooked(working, "S > X", configs={"X": {"message": "no"}}, answer="when_done", wait_s=20)
    assert code(deliver(sender, trigger, 1)) == (502, "run_failed")


def test_where_the_run_takes_longer_the_sender_is_told_where_to_ask(world: World, sender: Client) -> None:
    trigger = hooked(world, answer="when_done", wait_s=1)
    answer = deliver(sender, trigger, {"a": 1})
    assert answer.status_code == 202
    assert sender.get(answer["location"]).status_code == 202
    world.work()
    later = sender.get(answer["location"])
    assert (later.status_code, later.json()["output"]) == (200, {"a": 1})
    other = hooked(world)
    assert code(sender.get(f"/hooks/{other.path}/runs/{answer.json()['run_id']}")) == (404, "webhook_not_found")  # type: ignore[attr-defined]


def test_asking_for_a_run_needs_what_a_delivery_needs(world: World, sender: Client) -> None:
    trigger = hooked(world, security="bearer")
    secret = services.secret_of(trigger)
    where = deliver(sender, trigger, 1, Authorization=f"Bearer {secret}")["location"]
    assert code(sender.get(where)) == (401, "bad_signature")
    assert sender.get(where, headers={"Authorization": f"Bearer {secret}"}).status_code == 202


def test_where_too_many_wait_already_the_answer_comes_at_once(
    world: World, sender: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "_waiting", threading.BoundedSemaphore(1))
    hooks._waiting.acquire()
    trigger = hooked(world, answer="when_done", wait_s=30)
    begun = time.monotonic()
    assert deliver(sender, trigger, 1).status_code == 202
    assert time.monotonic() - begun < 10
