"""The mail and the request themselves, through the outbound guard, outside every transaction. No error's words hold a
credential.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from kit.errors import AppError
from runs.alerts.letter import Letter, body, subject, text
from runs.triggers.signature import signed
from steps.base import StepContext, StepFailure
from steps.email.run import run as send_mail
from steps.email.spec import EmailConfig
from steps.outbound import Limits, Request, exchange

LIMITS = Limits(timeout_s=10.0, response_bytes=64 * 1024, redirects=0)
SUBJECT = 300  # characters


@dataclass(frozen=True)
class Mail:
    """`settings` are of an SMTP connection, the password included."""

    to: list[str]
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Hook:
    url: str
    secret: str
    at: int  # seconds since 1970, by the database's clock: part of what is signed


class _Context:
    """As much of a step's context as the body of the e-mail step asks for."""

    storage_root = Path()  # there are no attachments

    def __init__(self, mail: Mail, *, key: str, allow: frozenset[str]) -> None:
        self.idempotency_key = key
        self.outbound_allow = allow
        self._settings = {name: value for name, value in mail.settings.items() if not name.startswith("_")}

    def connection(self, name: str) -> Mapping[str, Any]:
        return self._settings

    def act(self, name: str, function: Any, **detail: Any) -> Any:
        return function()

    def log(self, text: str) -> None:
        return None


def post(letter: Letter, to: Mail | Hook, *, allow: frozenset[str]) -> str | None:
    """None where it was taken; else why not, in words. The same letter again is a repeat that its receiver can tell:
    the mail's Message-ID and the request's X-Delivery-Id are the delivery's.
    """
    try:
        return _mail(letter, to, allow) if isinstance(to, Mail) else _request(letter, to, allow)
    except StepFailure as failure:
        return _without(to, failure.message)
    except (AppError, OSError, ValueError) as problem:
        return _without(to, f"{type(problem).__name__}: {problem}")


def _mail(letter: Letter, to: Mail, allow: frozenset[str]) -> str | None:
    config = EmailConfig(
        connection="mail", to=to.to, subject=subject(letter)[:SUBJECT], text=text(letter), timeout_s=10
    )
    answer = send_mail(config, cast(StepContext, _Context(to, key=f"alert {letter.delivery}", allow=allow)))
    return f"Not taken for: {', '.join(answer['refused'])}" if answer["refused"] else None


def _request(letter: Letter, to: Hook, allow: frozenset[str]) -> str | None:
    content = json.dumps(body(letter)).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Pawl",
        "X-Delivery-Id": letter.delivery,
        "X-Pawl-Signature": signed(to.secret, content, at=to.at),
    }
    asked = Request("POST", to.url, headers=headers, content=content)
    with exchange(asked, allow=allow, limits=LIMITS) as answer:
        if answer.status >= 300:
            return f"{origin_of(to.url)} answered {answer.status}."
    return None


def origin_of(url: str) -> str:
    """Of an address that may hold a token in its path: where it leads, no more."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _without(to: Mail | Hook, words: str) -> str:
    return words.replace(to.url, origin_of(to.url)) if isinstance(to, Hook) else words
