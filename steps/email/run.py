import hashlib
import smtplib
import socket
import ssl
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from email.errors import HeaderParseError
from email.message import EmailMessage
from email.utils import formatdate, getaddresses, parseaddr
from pathlib import PurePosixPath
from typing import Any

from steps import addresses, connections, storage
from steps.base import StepContext, StepFailure
from steps.connections import SmtpConnection
from steps.email.spec import EmailConfig
from steps.tls import tls_context

ATTACHMENTS_BYTES = 25 * 1024 * 1024  # what most mail servers take


def run(config: EmailConfig, ctx: StepContext) -> dict[str, Any]:
    settings = connections.read(ctx, config.connection, SmtpConnection)
    sender = config.sender or settings.sender
    if not sender:
        raise StepFailure("no_sender", f"Neither this step nor the connection '{config.connection}' names a sender.")
    message = compose(config, ctx, sender=sender)
    recipients = [address for _, address in getaddresses([*config.to, *config.cc, *config.bcc]) if address]
    with _failures(settings), _server(settings, ctx.outbound_allow, config.timeout_s) as server:
        refused = ctx.act(
            "send",
            lambda: _send(server, message, sender=sender, recipients=recipients),
            message_id=str(message["Message-ID"]),
            recipients=recipients,
        )
    ctx.log(f"sent {message['Message-ID']} to {len(recipients) - len(refused)} of {len(recipients)} addresses")
    return {
        "message_id": message["Message-ID"],
        "accepted": [address for address in recipients if address not in refused],
        "refused": refused,
    }


def _send(server: smtplib.SMTP, message: EmailMessage, *, sender: str, recipients: list[str]) -> dict[str, str]:
    refused = server.send_message(message, from_addr=parseaddr(sender)[1], to_addrs=recipients)
    return {address: _words(reason) for address, reason in refused.items()}


# ------------------------------------------------------------------ the message


def compose(config: EmailConfig, ctx: StepContext, *, sender: str) -> EmailMessage:
    message = EmailMessage()
    try:
        message["From"] = sender
        for name, values in (("To", config.to), ("Cc", config.cc), ("Reply-To", [config.reply_to])):
            if any(values):
                message[name] = ", ".join(each for each in values if each)
        message["Subject"] = config.subject
    except (HeaderParseError, ValueError, IndexError) as problem:
        raise StepFailure("bad_address", f"A header of the e-mail cannot be written: {problem}") from problem
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = message_id(ctx.idempotency_key, sender=sender)
    message["Idempotency-Key"] = ctx.idempotency_key
    _write_body(message, config)
    _attach(message, config, ctx)
    return message


def message_id(idempotency_key: str, *, sender: str) -> str:
    """The same for every attempt: mail programs and servers know a repeat by it."""
    domain = parseaddr(sender)[1].rpartition("@")[2] or "pawl.invalid"
    return f"<pawl.{hashlib.sha256(idempotency_key.encode()).hexdigest()[:32]}@{domain}>"


def _write_body(message: EmailMessage, config: EmailConfig) -> None:
    if config.html and not config.text:
        message.set_content(config.html, subtype="html")
        return
    message.set_content(config.text)
    if config.html:
        message.add_alternative(config.html, subtype="html")


def _attach(message: EmailMessage, config: EmailConfig, ctx: StepContext) -> None:
    left = ATTACHMENTS_BYTES
    for path in config.attachments:
        content = storage.read(ctx.storage_root, path, limit_bytes=left)
        left -= len(content)
        main, _, sub = storage.content_type(path).partition("/")
        message.add_attachment(content, maintype=main, subtype=sub, filename=PurePosixPath(path).name)


# ------------------------------------------------------------------ the server


class _Guarded:
    """Makes smtplib connect to a judged address. Its `_get_socket` is what its own SMTP_SSL overrides, too."""

    allow: Collection[str] = ()
    _host: str

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return addresses.connect(host, port, allow=self.allow, timeout_s=timeout)


class _Smtp(_Guarded, smtplib.SMTP):
    pass


class _SmtpTls(_Guarded, smtplib.SMTP):
    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return tls_context().wrap_socket(super()._get_socket(host, port, timeout), server_hostname=host)


@contextmanager
def _server(settings: SmtpConnection, allow: Collection[str], timeout_s: float) -> Iterator[smtplib.SMTP]:
    server = (_SmtpTls if settings.security == "tls" else _Smtp)(local_hostname="localhost", timeout=timeout_s)
    server.allow = allow
    try:
        server._host = settings.host  # noqa: SLF001  # STARTTLS checks the certificate against it
        server.connect(settings.host, settings.port)
        if settings.security == "starttls":
            server.starttls(context=tls_context())
        if settings.user:
            server.login(settings.user, settings.password)
        yield server
    finally:
        server.close()  # without QUIT: the mail is taken or refused by now, and a slow goodbye must not undo that


@contextmanager
def _failures(settings: SmtpConnection) -> Iterator[None]:
    """A 4xx answer and a broken connection may work later, a 5xx will not. No message holds a credential."""
    where = addresses.name_of(settings.host, settings.port)
    try:
        yield
    except smtplib.SMTPRecipientsRefused as problem:
        words = {address: _words(reason) for address, reason in problem.recipients.items()}
        retryable = all(400 <= reason[0] < 500 for reason in problem.recipients.values())
        raise StepFailure(
            "recipients_refused", f"{where} takes no address: {words}", retryable=retryable, data={"refused": words}
        ) from problem
    except smtplib.SMTPAuthenticationError as problem:
        raise StepFailure(
            "sign_in_refused",
            f"{where} refuses the user or password of the connection.",
            retryable=problem.smtp_code < 500,
        ) from None
    except smtplib.SMTPResponseException as problem:
        words_ = _words((problem.smtp_code, problem.smtp_error))
        raise StepFailure(
            "mail_refused", f"{where} says {words_}", retryable=400 <= problem.smtp_code < 500
        ) from problem
    except smtplib.SMTPNotSupportedError as problem:
        raise StepFailure("mail_refused", f"{where}: {problem}") from problem
    except ssl.SSLCertVerificationError as problem:
        raise StepFailure("tls_failed", f"The certificate of {where} cannot be trusted: {problem}") from problem
    except (OSError, smtplib.SMTPException) as problem:  # SMTPException is an OSError, too
        raise StepFailure("connection_failed", f"{where} failed on the way: {problem}", retryable=True) from problem


def _words(reason: tuple[int, bytes | str]) -> str:
    code, text = reason
    return f"{code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}"
