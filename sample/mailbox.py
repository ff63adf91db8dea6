"""The local mailbox: mails that the sample's SMTP server took, as files. What a mail says is never trusted.

Only headers and the plain text are given out; of an HTML part, only that there is one. File names of attachments are
shown, never used.
"""

import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

from kit.errors import NotFound

MAIL_ID = re.compile(r"[0-9]{19}-[0-9a-f]{8}")
SHOWN_TEXT = 100_000  # characters
SHOWN_HEADER = 500
LISTED = 200


class NoSuchMail(NotFound):
    code = "mail_not_found"


@dataclass(frozen=True)
class Mail:
    id: str
    subject: str
    sender: str
    to: str
    received_at: datetime
    message_id: str
    idempotency_key: str


@dataclass(frozen=True)
class OpenedMail:
    mail: Mail
    text: str
    has_html: bool
    attachments: tuple[str, ...]


def keep_mail(folder: Path, content: bytes) -> str:
    """Writes a mail as one file that appears whole or not at all; answers its id."""
    mail_id = f"{time.time_ns():019d}-{secrets.token_hex(4)}"
    unfinished = folder / f".{mail_id}.part"
    unfinished.write_bytes(content)
    unfinished.replace(_file(folder, mail_id))
    return mail_id


def list_mails(folder: Path) -> list[Mail]:
    """The newest first, 200 at most."""
    if not folder.is_dir():
        return []
    ids = sorted((path.stem for path in folder.glob("*.eml") if MAIL_ID.fullmatch(path.stem)), reverse=True)
    return [_summary(mail_id, _parsed(folder, mail_id, headers_only=True)) for mail_id in ids[:LISTED]]


def read_mail(folder: Path, mail_id: str) -> OpenedMail:
    """Raises NoSuchMail, also for an id that is not one."""
    if not MAIL_ID.fullmatch(mail_id) or not _file(folder, mail_id).is_file():
        raise NoSuchMail("There is no such mail in the local mailbox.")
    message = _parsed(folder, mail_id)
    return OpenedMail(
        mail=_summary(mail_id, message),
        text=_text(message),
        has_html=any(part.get_content_type() == "text/html" for part in message.walk()),
        attachments=tuple(_clean(part.get_filename() or "(no name)") for part in message.iter_attachments()),
    )


def parse_mail(content: bytes) -> EmailMessage:
    return BytesParser(EmailMessage, policy=policy.default).parsebytes(content)


def _file(folder: Path, mail_id: str) -> Path:
    return folder / f"{mail_id}.eml"


def _parsed(folder: Path, mail_id: str, *, headers_only: bool = False) -> EmailMessage:
    with _file(folder, mail_id).open("rb") as stream:
        return BytesParser(EmailMessage, policy=policy.default).parse(stream, headersonly=headers_only)


def _summary(mail_id: str, message: EmailMessage) -> Mail:
    return Mail(
        id=mail_id,
        subject=header(message, "Subject"),
        sender=header(message, "From"),
        to=header(message, "To"),
        received_at=datetime.fromtimestamp(int(mail_id.partition("-")[0]) / 1e9, tz=UTC),
        message_id=header(message, "Message-ID"),
        idempotency_key=header(message, "Idempotency-Key") or header(message, "X-Idempotency-Key"),
    )


def header(message: EmailMessage, name: str) -> str:
    """A header as clean text; '' where it is missing or so broken that the parser gives up."""
    try:
        value = message[name]
    except (ValueError, IndexError, AttributeError):  # email's header parser raises these on hostile input
        return ""
    return _clean(str(value)) if value is not None else ""


def _clean(text: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable.strip()[:SHOWN_HEADER]


def _text(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain",))
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, ValueError):  # an unknown or broken character set
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return str(content)[:SHOWN_TEXT]
