"""The sample's mail server: takes every mail and keeps it as a file. Nothing leaves the machine."""

import hmac
import logging

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from sample.mailbox import header, keep_mail, parse_mail
from sample.received import Arrival
from sample.state import Address, SampleState

USER = "pawl"
LIMIT_BYTES = 20 * 1024 * 1024
log = logging.getLogger("sample.smtp")


class _Keeper:
    """Counts a mail by Message-ID and idempotency key, then keeps it."""

    def __init__(self, state: SampleState) -> None:
        self._state = state

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd looks for it
        if not session.authenticated:
            return "530 5.7.0 Sign in first"
        content = envelope.content
        if not isinstance(content, bytes):
            return "554 This mail could not be read"
        message = parse_mail(content)
        key = header(message, "Idempotency-Key") or header(message, "X-Idempotency-Key")
        keep_mail(self._state.mails, content)
        self._state.received.add(Arrival("MAIL", header(message, "Message-ID"), key))
        log.info("kept a mail to %s", ", ".join(envelope.rcpt_tos))
        return "250 Kept"


def mail_server(address: Address, state: SampleState) -> Controller:
    """A server in a thread of its own: `.start()` and `.stop()` it. Its password is the sample's token."""

    def authenticate(*asked: object) -> AuthResult:
        data = asked[-1]  # after server, session, envelope, mechanism
        right = (
            isinstance(data, LoginPassword)
            and data.login == USER.encode()
            and hmac.compare_digest(data.password, state.token.encode())
        )
        return AuthResult(success=right, handled=False)

    return Controller(
        _Keeper(state),
        hostname=address.host,
        port=address.port,
        server_kwargs={
            "authenticator": authenticate,
            "auth_require_tls": False,  # the loopback address only
            "data_size_limit": LIMIT_BYTES,
        },
    )
