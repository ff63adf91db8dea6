"""E-mail through a real SMTP server on this machine."""

import email
import email.policy
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from config.services.ports import free_port
from steps.base import StepFailure
from tests.step_context import FakeContext, run_step


@dataclass
class Mailbox:
    """Takes mail; addresses that begin with 'no' are refused for good, with 'later' for now."""

    taken: list[Envelope] = field(default_factory=list)
    answer_to_data: str = "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.startswith("no"):
            return "550 no such person"
        if address.startswith("later"):
            return "451 try later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.answer_to_data.startswith("250"):
            self.taken.append(envelope)
        return self.answer_to_data

    def last(self) -> EmailMessage:
        content = self.taken[-1].content
        assert isinstance(content, bytes)
        return email.message_from_bytes(content, policy=email.policy.default)  # type: ignore[return-value]


def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    assert isinstance(data, LoginPassword)
    return AuthResult(success=data.password == b"s3cret-password", handled=False)


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def server(mailbox: Mailbox) -> Iterator[Controller]:
    controller = Controller(
        mailbox, hostname="127.0.0.1", port=free_port(), authenticator=authenticate, auth_require_tls=False
    )
    controller.start()
    yield controller
    if not controller.loop.is_closed():
        controller.stop(no_assert=True)


@pytest.fixture
def ctx(tmp_path: Path, server: Controller) -> FakeContext:
    port = server.port
    connection = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "Pawl <pawl@example.com>"}
    return FakeContext(
        storage_root=tmp_path, outbound_allow=frozenset({f"127.0.0.1:{port}"}), connections={"mail": connection}
    )


def send(ctx: FakeContext, **config: Any) -> Any:
    return run_step(
        ctx, "email", **{"connection": "mail", "to": "ana@example.com", "subject": "Hi", "text": "x", **config}
    )


def failure_of(ctx: FakeContext, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        send(ctx, **config)
    return failure.value


def test_a_mail_arrives_with_all_that_it_should_hold(ctx: FakeContext, mailbox: Mailbox) -> None:
    (ctx.storage_root / "größe.txt").write_text("attached")
    answer = send(
        ctx, to="Ana <ana@example.com>, ben@example.com", cc=["cy@example.com"], bcc="dee@example.com",
        reply_to="team@example.com", subject="Größe\nX-Injected: yes", text="plain", html="<b>rich</b>",
        attachments="größe.txt",
    )  # fmt: skip
    message = mailbox.last()
    everyone = ["ana@example.com", "ben@example.com", "cy@example.com", "dee@example.com"]
    assert answer["accepted"] == mailbox.taken[0].rcpt_tos == everyone
    assert answer["refused"] == {}
    assert message["From"] == "Pawl <pawl@example.com>"
    assert message["To"] == "Ana <ana@example.com>, ben@example.com"
    assert message["Reply-To"] == "team@example.com"
    assert message["Subject"] == "Größe X-Injected: yes"
    assert message["X-Injected"] is None
    assert message["Bcc"] is None
    assert b"dee@example.com" not in mailbox.taken[0].content  # type: ignore[operator]
    assert message.get_body(("plain",)).get_content().strip() == "plain"  # type: ignore[union-attr]
    assert message.get_body(("html",)).get_content().strip() == "<b>rich</b>"  # type: ignore[union-attr]
    assert [(each.get_filename(), each.get_content()) for each in message.iter_attachments()] == [
        ("größe.txt", "attached")
    ]


def test_a_repeat_is_recognised_by_its_id_and_key(ctx: FakeContext, mailbox: Mailbox) -> None:
    first = send(ctx)
    key = mailbox.last()["Idempotency-Key"]
    second = send(ctx.next_attempt())
    assert first["message_id"] == second["message_id"] == mailbox.last()["Message-ID"]
    assert first["message_id"].endswith("@example.com>")
    assert key == mailbox.last()["Idempotency-Key"] == ctx.idempotency_key
    ctx.idempotency_key = "of another step"
    assert send(ctx)["message_id"] != first["message_id"]


def test_html_alone_is_sent_alone(ctx: FakeContext, mailbox: Mailbox) -> None:
    send(ctx, text="", html="<p>only</p>")
    assert mailbox.last().get_content_type() == "text/html"


def test_the_step_may_name_its_own_sender(ctx: FakeContext, mailbox: Mailbox) -> None:
    send(ctx, sender="boss@other.example")
    assert mailbox.taken[0].mail_from == "boss@other.example"
    ctx.connections = {"mail": {**ctx.connections["mail"], "sender": ""}}
    assert failure_of(ctx).code == "no_sender"


def test_a_refused_address_among_good_ones_is_told(ctx: FakeContext) -> None:
    answer = send(ctx, to="ana@example.com, nobody@example.com")
    assert answer["accepted"] == ["ana@example.com"]
    assert answer["refused"] == {"nobody@example.com": "550 no such person"}


@pytest.mark.parametrize(("to", "retryable"), [("nobody@example.com", False), ("later@example.com", True)])
def test_no_address_taken_fails_the_step(ctx: FakeContext, mailbox: Mailbox, to: str, retryable: bool) -> None:
    failure = failure_of(ctx, to=to)
    assert (failure.code, failure.retryable) == ("recipients_refused", retryable)
    assert mailbox.taken == []


@pytest.mark.parametrize(("answer", "retryable"), [("554 spam", False), ("452 disk full", True)])
def test_a_refused_mail_says_what_the_server_said(
    ctx: FakeContext, mailbox: Mailbox, answer: str, retryable: bool
) -> None:
    mailbox.answer_to_data = answer
    failure = failure_of(ctx)
    assert (failure.code, failure.retryable) == ("mail_refused", retryable)
    assert answer in failure.message


def test_a_user_signs_in_and_a_wrong_password_stays_out_of_the_words(ctx: FakeContext, mailbox: Mailbox) -> None:
    ctx.connections = {"mail": {**ctx.connections["mail"], "user": "u", "password": "s3cret-password"}}
    send(ctx)
    assert len(mailbox.taken) == 1
    ctx.connections = {"mail": {**ctx.connections["mail"], "password": "s3cret-but-wrong"}}
    failure = failure_of(ctx)
    assert (failure.code, failure.retryable) == ("sign_in_refused", False)
    assert "s3cret" not in failure.message + str(ctx.logged)


def test_a_mail_server_of_this_machine_is_refused_unless_allowed(ctx: FakeContext, mailbox: Mailbox) -> None:
    ctx.outbound_allow = frozenset()
    assert failure_of(ctx).code == "outbound_refused"
    assert mailbox.taken == []


def test_a_server_that_is_gone_may_come_back(ctx: FakeContext, server: Controller) -> None:
    server.stop()
    failure = failure_of(ctx)
    assert (failure.code, failure.retryable) == ("connection_failed", True)


def test_encryption_is_never_left_out_silently(ctx: FakeContext, mailbox: Mailbox) -> None:
    ctx.connections = {"mail": {**ctx.connections["mail"], "security": "starttls"}}
    assert failure_of(ctx).code == "mail_refused"
    assert mailbox.taken == []


@pytest.mark.parametrize("to", ["", "ana", "a@b\r\nBcc: c@d"])
def test_what_is_no_address_is_refused(ctx: FakeContext, to: str) -> None:
    with pytest.raises(ValueError, match="address"):
        send(ctx, to=[to] if to else [])


def test_attachments_have_a_limit(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steps.email.run.ATTACHMENTS_BYTES", 10)
    (ctx.storage_root / "a").write_bytes(b"123456")
    assert failure_of(ctx, attachments=["a", "a"]).code == "file_too_large"


def test_the_default_tls_context_checks_names() -> None:
    from steps.tls import tls_context

    assert tls_context().check_hostname
    assert tls_context().verify_mode is ssl.CERT_REQUIRED
