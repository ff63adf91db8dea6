"""What tests of alerts share: a server that takes requests, a mailbox, and rules."""

from http.server import BaseHTTPRequestHandler
from typing import Any

from runs.alerts.services import create_alert
from runs.models import AlertRule
from teams.access import SYSTEM
from tests.engine import World


class Hooks(BaseHTTPRequestHandler):
    taken: list[tuple[dict[str, str], bytes]] = []
    answers: list[int] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.answers.pop(0) if self.answers else 204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return None


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append(envelope)
        return "250 taken"


def rule_of(
    world: World, *events: str, url: str = "", workflow: Any = None, quiet_s: int = 0, **more: Any
) -> AlertRule:
    to = [] if url else ["ana@example.com"]
    wanted = {
        "name": "Tell us", "events": list(events), "recipients": to, "connection": "",
        "url": url, "quiet_s": quiet_s, "no_worker_s": 15, "enabled": True, **more,
    }  # fmt: skip
    channel = "webhook" if url else "mail"
    return create_alert(actor=SYSTEM, workspace=world.workspace, workflow=workflow, channel=channel, wanted=wanted)
