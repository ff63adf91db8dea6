"""Alerts: what happened is found once, told together, sent after its commit, and sent again until it is taken."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.utils.timezone import now

from config.services.ports import free_port
from kit.errors import Forbidden
from kit.failpoints import FailpointHit
from kit.ids import new_id
from runs.alerts import deliver, selectors
from runs.alerts.deliver import make_deliveries, send_due
from runs.alerts.errors import AlertTestWaits, BadAlert, TooManyAlerts
from runs.alerts.facts import gather
from runs.alerts.services import change_alert, delete_alert, secret_of, send_test
from runs.models import AlertDelivery, AlertFact, AlertRule, Firing, Look, Run, Trigger, Wait, Worker
from runs.triggers.signature import check_timestamped
from teams.access import SYSTEM, person
from teams.models import AuditRecord, Membership, Role, User
from tests.engine import World
from tests.staging import failpoints
from tests.watching import Hooks, Mailbox, rule_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hook(settings: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hooks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Hooks.taken, Hooks.answers = [], []
    address = f"127.0.0.1:{server.server_port}"
    settings.OUTBOUND_ALLOW = frozenset({address})
    yield f"http://{address}/hooks/a-token"
    server.shutdown()
    server.server_close()


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    box = Mailbox()
    server = Controller(box, hostname="127.0.0.1", port=free_port())
    server.start()
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", server.port, False
    settings.EMAIL_HOST_USER = ""
    yield box
    server.stop()


def fail_one(world: World, version: Any = None) -> Run:
    started = world.start(version or world.draw("S > X", configs={"X": {"message": "no such order"}}))
    world.work()
    return world.run(started.run_id)


def keys(rule: AlertRule) -> list[str]:
    return sorted(AlertFact.objects.filter(rule=rule).values_list("key", flat=True))


def deliver_all(world: World) -> int:
    gather(world.connection)
    make_deliveries(world.connection, gather_s=0)
    return send_due(world.connection)


# ---------------------------------------------------------------------- facts


def test_a_failed_run_is_found_once_however_often_one_looks_and_again_after_a_resume_that_fails(world: World) -> None:
    rule = rule_of(world, "failed")
    run = fail_one(world)
    assert (gather(world.connection), gather(world.connection)) == (1, 0)
    assert keys(rule) == [f"run:{run.id}:1"]
    fact = json.loads(AlertFact.objects.get(rule=rule).data)
    assert (fact["run"]["number"], fact["step"], fact["message"]) == (run.number, "X", "no such order")
    Run.objects.filter(id=run.id).update(generation=2)
    assert gather(world.connection) == 1
    Run.objects.filter(id=run.id).update(generation=1)


def test_what_failed_while_no_sweeper_looked_is_told_and_what_failed_before_the_rule_is_not(world: World) -> None:
    fail_one(world)
    rule = rule_of(world, "failed")
    gather(world.connection)
    assert keys(rule) == []
    Look.objects.filter(name="alerts").update(looked_to=now() - timedelta(days=2))
    run = fail_one(world)
    gather(world.connection)
    assert keys(rule) == [f"run:{run.id}:1"]


def test_a_passed_deadline_is_told_by_its_own_name_and_only_to_whoever_asks_for_it(world: World) -> None:
    late, failed = rule_of(world, "deadline"), rule_of(world, "failed")
    version = world.draw("S > W", kinds={"W": "delay"}, configs={"W": {"seconds": 600}})
    started = world.start(version, deadline_s=1.0)
    world.work()
    world.connection.execute("UPDATE runs_run SET deadline_at = now() WHERE id = %s", (started.run_id,))
    world.sweep()
    fail_one(world)
    gather(world.connection)
    assert [fact.kind for fact in AlertFact.objects.filter(rule=late)] == ["deadline"]
    assert [fact.kind for fact in AlertFact.objects.filter(rule=failed)] == ["failed", "failed"]


def test_a_rule_of_one_workflow_hears_of_no_other(world: World) -> None:
    mine = world.draw("S > X", configs={"X": {"message": "no"}})
    rule = rule_of(world, "failed", workflow=mine.workflow)
    fail_one(world)
    run = fail_one(world, mine)
    gather(world.connection)
    assert keys(rule) == [f"run:{run.id}:1"]


def test_a_tick_that_was_missed_or_that_nobody_decided_is_told_once(world: World) -> None:
    version = world.draw("S > A")
    due = (now() + timedelta(seconds=2)).replace(microsecond=0)
    trigger = Trigger.objects.create(
        workspace=world.workspace, workflow=version.workflow, kind="schedule", name="nightly", settings="{}",
        next_at=due, created_at=now(), updated_at=now(),
    )  # fmt: skip
    rule = rule_of(world, "silent")
    gather(world.connection)
    assert keys(rule) == []
    AlertRule.objects.filter(id=rule.id).update(since=now() - timedelta(hours=1))
    Trigger.objects.filter(id=trigger.id).update(next_at=due - timedelta(minutes=10))
    gather(world.connection)
    assert keys(rule) == [f"tick:{trigger.id}:{int(due.timestamp()) - 600}"]
    Firing.objects.create(
        trigger=trigger, key="t", status="missed", reason="late", due_at=due - timedelta(minutes=10), created_at=now()
    )
    assert gather(world.connection) == 0
    trigger.delete()


def test_a_lane_that_nobody_serves_is_told_once_for_each_time_that_it_was_left(world: World) -> None:
    rule = rule_of(world, "no_worker")
    world.start(world.draw("S > A"))
    assert gather(world.connection) == 0
    world.connection.execute("UPDATE runs_steprun SET not_before = now() - interval '1 minute' WHERE status = 'ready'")
    assert (gather(world.connection), gather(world.connection)) == (1, 0)
    assert keys(rule) == ["lane:default:0"]
    assert world.process.id is not None  # a worker that serves the lane
    assert gather(world.connection) == 0
    Worker.objects.update(heartbeat_at=now() - timedelta(minutes=2))
    assert (gather(world.connection), gather(world.connection)) == (1, 0)
    Worker.objects.update(heartbeat_at=now())
    world.work()


def test_a_question_is_told_with_a_link_that_answers_nothing(world: World, mailbox: Mailbox) -> None:
    rule_of(world, "question")
    version = world.draw("S > P", kinds={"P": "approval"}, configs={"P": {"title": "Pay the batch?"}})
    world.start(version)
    world.work()
    deliver_all(world)
    wait = Wait.objects.get(run__workspace=world.workspace)
    mail = message_from_bytes(mailbox.mails[0].content, policy=policy.default)
    assert "asks: Pay the batch?" in mail["Subject"]
    assert f"/inbox?wait={wait.id}" in mail.get_content()
    assert Wait.objects.get(id=wait.id).status == "open"


# ---------------------------------------------------------------------- deliveries


def test_a_thousand_failures_are_one_mail_and_what_follows_within_the_quiet_period_is_another(
    world: World, mailbox: Mailbox
) -> None:
    rule = rule_of(world, "failed", quiet_s=3600)
    run = fail_one(world)
    gather(world.connection)
    fact = AlertFact.objects.get(rule=rule)
    AlertFact.objects.bulk_create(
        AlertFact(rule=rule, key=f"run:{new_id()}:1", kind="failed", data=fact.data, at=fact.at, found_at=now())
        for _ in range(999)
    )
    make_deliveries(world.connection, gather_s=0)
    assert (send_due(world.connection), send_due(world.connection)) == (1, 0)
    (mail,) = mailbox.mails
    assert "1,000 runs failed" in mail.content.decode()
    assert mail.rcpt_tos == ["ana@example.com"]
    fail_one(world, run.version)
    gather(world.connection)
    assert make_deliveries(world.connection, gather_s=0) == 0  # it is quiet
    AlertDelivery.objects.filter(rule=rule).update(created_at=now() - timedelta(hours=2))
    assert make_deliveries(world.connection, gather_s=0) == 1


def test_a_delivery_waits_a_moment_for_what_comes_together(world: World) -> None:
    rule_of(world, "failed")
    fail_one(world)
    gather(world.connection)
    assert make_deliveries(world.connection) == 0


def test_a_request_is_signed_and_names_the_delivery(world: World, hook: str) -> None:
    rule = rule_of(world, "failed", url=hook)
    run = fail_one(world)
    assert deliver_all(world) == 1
    ((headers, body),) = Hooks.taken
    delivery = AlertDelivery.objects.get(rule=rule)
    secret = secret_of(rule)
    assert secret is not None
    check_timestamped(headers["x-pawl-signature"], body, secret=secret, now=now().timestamp(), tolerance_s=60)
    assert headers["x-delivery-id"] == str(delivery.id)
    told = json.loads(body)
    assert (told["counts"], told["facts"][0]["run"]["number"]) == ({"failed": 1}, run.number)
    assert (delivery.status, delivery.attempts, delivery.fact_count) == ("sent", 1, 1)


def test_a_refusal_is_kept_and_shown_without_the_address_s_token_and_tried_again(world: World, hook: str) -> None:
    rule = rule_of(world, "failed", url=hook)
    fail_one(world)
    Hooks.answers = [500]
    deliver_all(world)
    delivery = AlertDelivery.objects.get(rule=rule)
    assert (delivery.status, delivery.attempts) == ("waiting", 1)
    assert delivery.error is not None
    assert "answered 500" in delivery.error
    assert "a-token" not in delivery.error
    assert send_due(world.connection) == 0  # not at once
    AlertDelivery.objects.update(not_before=now() - timedelta(seconds=1))
    assert send_due(world.connection) == 1
    first, second = Hooks.taken
    assert first[0]["x-delivery-id"] == second[0]["x-delivery-id"]
    assert AlertDelivery.objects.get(rule=rule).status == "sent"


def test_after_the_last_attempt_it_is_given_up_and_says_so(world: World, hook: str) -> None:
    rule = rule_of(world, "failed", url=hook)
    fail_one(world)
    Hooks.answers = [503]
    gather(world.connection)
    make_deliveries(world.connection, gather_s=0)
    AlertDelivery.objects.update(attempts=deliver.ATTEMPTS - 1)
    send_due(world.connection)
    shown = selectors.alert_detail(SYSTEM, rule)["deliveries"][0]
    assert (shown["status"], shown["next_at"]) == ("failed", None)


def test_whoever_died_after_sending_is_followed_by_one_who_sends_the_same_delivery_again(
    world: World, hook: str
) -> None:
    rule = rule_of(world, "failed", url=hook)
    fail_one(world)
    gather(world.connection)
    make_deliveries(world.connection, gather_s=0)

    with failpoints("alert_sent:raise"), pytest.raises(FailpointHit):
        send_due(world.connection)
    assert send_due(world.connection) == 0  # its lease
    AlertDelivery.objects.update(not_before=now() - timedelta(seconds=1))
    send_due(world.connection)
    assert len({headers["x-delivery-id"] for headers, _ in Hooks.taken}) == 1
    assert AlertDelivery.objects.get(rule=rule).status == "sent"


def test_an_outcome_that_comes_after_the_next_attempt_has_begun_is_not_kept(world: World) -> None:
    rule = rule_of(world, "failed")
    delivery = AlertDelivery.objects.create(
        rule=rule, status="waiting", fact_count=0, attempts=2, not_before=now(), created_at=now()
    )
    claimed = deliver.Claimed(
        delivery.id, 1, False, rule.id, "x", "mail", "[]", "", "", None, world.workspace.id, "Acme", "acme", now()
    )
    assert not deliver.note(world.connection, claimed, None)
    assert AlertDelivery.objects.get(id=delivery.id).status == "waiting"


def test_an_address_inside_the_house_is_refused_by_the_guard(world: World) -> None:
    rule = rule_of(world, "failed", url="http://127.0.0.1:9/x")
    fail_one(world)
    deliver_all(world)
    error = AlertDelivery.objects.get(rule=rule).error
    assert error is not None
    assert "not on the public internet" in error


def test_without_a_mail_server_the_delivery_says_so(world: World, settings: Any) -> None:
    settings.EMAIL_HOST = ""
    rule = rule_of(world, "failed")
    send_test(actor=SYSTEM, rule=rule)
    send_due(world.connection)
    shown = selectors.alert_detail(SYSTEM, rule)["deliveries"][0]
    assert (shown["status"], shown["is_test"]) == ("failed", True)
    assert "PAWL_SMTP_HOST" in shown["error"]


def test_old_deliveries_go_with_what_they_told_and_those_that_wait_stay(world: World) -> None:
    rule = rule_of(world, "failed")
    for status in ("sent", "waiting"):
        made = AlertDelivery.objects.create(
            rule=rule, status=status, fact_count=1, not_before=now(), created_at=now() - timedelta(days=31)
        )
        AlertFact.objects.create(
            rule=rule, key=status, kind="failed", data="{}", at=now(), found_at=now(), delivery=made
        )
    assert deliver.forget(world.connection) == 1
    assert keys(rule) == ["waiting"]


# ---------------------------------------------------------------------- people


def test_a_test_is_sent_whatever_is_quiet_and_a_second_one_waits_for_its_outcome(
    world: World, mailbox: Mailbox
) -> None:
    rule = rule_of(world, "failed", quiet_s=3600)
    send_test(actor=SYSTEM, rule=rule)
    with pytest.raises(AlertTestWaits):
        send_test(actor=SYSTEM, rule=rule)
    send_due(world.connection)
    assert "Nothing happened" in mailbox.mails[0].content.decode()
    fail_one(world)
    assert deliver_all(world) == 1  # a test keeps nothing quiet


def test_switched_off_it_forgets_what_was_not_told_and_switched_on_it_begins_anew(world: World) -> None:
    rule = rule_of(world, "failed")
    fail_one(world)
    gather(world.connection)
    change_alert(actor=SYSTEM, rule=rule, wanted={"enabled": False})
    assert keys(rule) == []
    fail_one(world)
    change_alert(actor=SYSTEM, rule=rule, wanted={"enabled": True})
    gather(world.connection)
    assert keys(rule) == []


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"events": []}, "events"),
        ({"recipients": []}, "recipients"),
        ({"recipients": ["nobody"]}, "recipients[0]"),
        ({"recipients": ["a@b.ch\r\nBcc: x@y.ch"]}, "recipients[0]"),
        ({"recipients": ["a@b.ch"] * 21}, "recipients"),
        ({"connection": "no such"}, "connection"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_its_field(world: World, wanted: dict[str, Any], field: str) -> None:
    rule = rule_of(world, "failed")
    with pytest.raises(BadAlert) as refused:
        change_alert(actor=SYSTEM, rule=rule, wanted=wanted)
    assert refused.value.data["fields"][0]["field"] == field


@pytest.mark.parametrize("url", ["", "ftp://a.ch", "https://", "https://u:p@a.ch/", "http://a b.ch", "https://[x"])
def test_an_address_that_no_request_can_go_to_is_refused(world: World, url: str) -> None:
    rule = rule_of(world, "failed", url="https://a.example/hook")
    with pytest.raises(BadAlert):
        change_alert(actor=SYSTEM, rule=rule, wanted={"url": url})


def test_roles_see_alerts_and_only_editors_change_them_and_the_trail_tells_of_it(world: World) -> None:
    viewer = User.objects.create_user(f"{new_id().hex}@example.com", "long enough a word")
    Membership.objects.create(workspace=world.workspace, user=viewer, role=Role.VIEWER)
    rule = rule_of(world, "failed", url="https://hooks.example/services/a-token")
    seen = selectors.alert_list(person(viewer), world.workspace)["items"][0]
    assert seen["url"] == "https://hooks.example"
    for act in (send_test, delete_alert):
        with pytest.raises(Forbidden):
            act(actor=person(viewer), rule=rule)
    change_alert(actor=SYSTEM, rule=rule, wanted={"name": "renamed"})
    delete_alert(actor=SYSTEM, rule=rule)
    actions = AuditRecord.objects.filter(workspace_id=world.workspace.id).values_list("action", flat=True)
    assert sorted(actions) == ["alert.create", "alert.delete", "alert.update"]


def test_a_workspace_has_only_so_many(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.alerts.services.AT_MOST", 1)
    rule_of(world, "failed")
    with pytest.raises(TooManyAlerts):
        rule_of(world, "failed")
