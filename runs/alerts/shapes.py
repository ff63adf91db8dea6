"""What a rule may say, checked. Raises BadAlert, which names the fields."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from builder.connections.models import Connection
from runs.alerts.errors import BadAlert
from steps.email.spec import Address
from teams.access import SYSTEM, visible_to
from teams.models import Workspace

EVENTS = ("failed", "deadline", "silent", "no_worker", "question")
CHANNELS = ("mail", "webhook")
RECIPIENTS = 20
URL = 2_000
QUIET_S = (0, 7 * 86_400)
NO_WORKER_S = (15, 86_400)

_address: TypeAdapter[str] = TypeAdapter(Address)


def bad(field: str, message: str) -> BadAlert:
    return BadAlert(message, fields=[{"field": field, "message": message}])


def events_text(events: Sequence[str]) -> str:
    """As they are kept: each between spaces, so that a statement finds one by its word."""
    if not events:
        raise bad("events", "Choose at least one thing to be told of.")
    return f" {' '.join(each for each in EVENTS if each in events)} "


def check_target(workspace: Workspace, channel: str, target: Mapping[str, Any]) -> None:
    """`target`: recipients and connection of a mail, url of a webhook."""
    if channel == "webhook":
        _check_url(target["url"])
        return
    _check_recipients(target["recipients"])
    name = target["connection"]
    if name and not visible_to(SYSTEM, Connection.objects.filter(name=name, kind="smtp"), workspace).exists():
        raise bad("connection", f"There is no SMTP connection '{name}' in this workspace.")


def _check_recipients(recipients: Sequence[str]) -> None:
    if not recipients:
        raise bad("recipients", "Name at least one address.")
    if len(recipients) > RECIPIENTS:
        raise bad("recipients", f"At most {RECIPIENTS} addresses: use a list of your mail server for more.")
    for place, each in enumerate(recipients):
        try:
            _address.validate_python(each)
        except ValidationError:
            raise bad(f"recipients[{place}]", f"'{each[:80]}' is not an e-mail address.") from None


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        found = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        found = False
    if not found or len(url) > URL or any(sign.isspace() or ord(sign) < 32 for sign in url):
        raise bad("url", "Give a whole address that begins with https:// or http://.")
    if "@" in urlsplit(url).netloc:
        raise bad("url", "No user or password in the address: each request is signed with the alert's own secret.")
