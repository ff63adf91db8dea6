"""The sample's HTTP server: invoices to fetch, a policy service to ask, an object storage to fill.

Everything but /health asks for the bearer token. Each request is counted by method, path and idempotency key as it
arrives, before it is answered: a client that dies while it waits has been counted.
"""

import hashlib
import hmac
import json
import logging
import mimetypes
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sample.compliance import Mood, PolicyService
from sample.mailbox import list_mails
from sample.received import Arrival
from sample.state import Address, SampleState

BATCH = "2026-03"
LIMIT_BYTES = 64 * 1024 * 1024
SLOW_LIMIT_S = 600.0
log = logging.getLogger("sample.web")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    key: str
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as an object. Raises Refusal where it is none."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, "The body is not JSON.") from error
        if not isinstance(value, dict):
            raise Refusal(HTTPStatus.BAD_REQUEST, "The body should be a JSON object.")
        return value


@dataclass(frozen=True)
class Answer:
    status: int
    content: bytes
    media_type: str = "application/json"


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def answer_json(value: Any, status: int = HTTPStatus.OK) -> Answer:
    return Answer(status, json.dumps(value).encode())


class SampleSite:
    """What the server can do, without sockets."""

    def __init__(self, state: SampleState, base_url: str) -> None:
        self._state = state
        self._base_url = base_url
        self._policy = PolicyService()
        self._routes: dict[tuple[str, str], Callable[[Request, str], Answer]] = {
            ("GET", "batches"): self._batch,
            ("GET", "documents"): self._document,
            ("POST", "compliance"): self._compliance,
            ("PUT", "storage"): self._put,
            ("GET", "storage"): self._get,
            ("GET", "admin"): self._look,
            ("POST", "admin"): self._steer,
        }

    def handle(self, request: Request, token: str) -> Answer:
        if request.path == "/health":
            return answer_json({"ok": True})
        if not hmac.compare_digest(token.encode(), self._state.token.encode()):
            raise Refusal(HTTPStatus.UNAUTHORIZED, "This server asks for its bearer token.")
        room, _, rest = request.path.lstrip("/").partition("/")
        route = self._routes.get((request.method, room))
        if route is None:
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no {request.method} {request.path} here.")
        if room != "admin":
            self._state.received.add(Arrival(request.method, request.path, request.key))
        return route(request, rest)

    def _batch(self, request: Request, batch: str) -> Answer:
        if batch != BATCH:
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no batch {batch!r}; the sample has {BATCH!r}.")
        files = sorted(path for path in self._state.documents.iterdir() if path.stem.startswith("invoice-"))
        return answer_json({"batch": batch, "documents": [self._listed(path) for path in files]})

    def _listed(self, path: Path) -> dict[str, Any]:
        content = path.read_bytes()
        return {
            "id": path.stem,
            "name": path.name,
            "url": f"{self._base_url}/documents/{path.name}",
            "media_type": _media_type(path),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    def _document(self, request: Request, name: str) -> Answer:
        path = self._state.documents / name
        if "/" in name or not path.stem.startswith("invoice-") or not path.is_file():
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no document {name!r}.")
        return Answer(HTTPStatus.OK, path.read_bytes(), _media_type(path))

    def _compliance(self, request: Request, rest: str) -> Answer:
        mood = self._policy.mood
        if mood.broken_status is not None:
            raise Refusal(mood.broken_status, "The policy service is out of order (POST /admin/mend mends it).")
        documents = request.json().get("documents")
        if rest != "check" or not isinstance(documents, list):
            raise Refusal(HTTPStatus.BAD_REQUEST, "POST /compliance/check wants {'documents': [...]}.")
        time.sleep(mood.slow_s)
        return answer_json(self._policy.answer(request.key, documents))

    def _stored(self, rest: str) -> Path:
        root = self._state.storage.resolve()
        path = (root / rest).resolve()
        if not rest or root not in path.parents:
            raise Refusal(HTTPStatus.BAD_REQUEST, "A storage path stays below /storage/.")
        return path

    def _put(self, request: Request, rest: str) -> Answer:
        path = self._stored(rest)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{secrets.token_hex(8)}.part")
        unfinished.write_bytes(request.body)
        unfinished.replace(path)
        return answer_json({"path": rest, "bytes": len(request.body)}, HTTPStatus.CREATED)

    def _get(self, request: Request, rest: str) -> Answer:
        path = self._stored(rest)
        if not path.is_file():
            raise Refusal(HTTPStatus.NOT_FOUND, f"Nothing is stored at {rest!r}.")
        return Answer(HTTPStatus.OK, path.read_bytes(), _media_type(path))

    def _look(self, request: Request, rest: str) -> Answer:
        if rest == "received":
            return answer_json({"received": self._state.received.rows()})
        if rest == "mails":
            mails = list_mails(self._state.mails)
            return answer_json({"mails": [{"id": mail.id, "to": mail.to, "subject": mail.subject} for mail in mails]})
        raise Refusal(HTTPStatus.NOT_FOUND, f"There is no /admin/{rest}.")

    def _steer(self, request: Request, rest: str) -> Answer:
        mood, wanted = self._policy.mood, request.json()
        if rest == "break":
            mood = replace(mood, broken_status=int(_number(wanted.get("status", 503), least=400, most=599)))
        elif rest == "mend":
            mood = Mood()
        elif rest == "slow":
            mood = replace(mood, slow_s=_number(wanted.get("slow_s"), least=0, most=SLOW_LIMIT_S))
        else:
            raise Refusal(HTTPStatus.NOT_FOUND, f"There is no /admin/{rest}.")
        self._policy.mood = mood
        return answer_json({"broken_status": mood.broken_status, "slow_s": mood.slow_s})


def _number(value: Any, *, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"A number from {least} to {most} is wanted, not {value!r}.")
    return value


def _media_type(path: Path) -> str:
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # of an idle connection that is kept alive
    site: SampleSite

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def _serve(self) -> None:
        try:
            answer = self.site.handle(self._request(), self._bearer())
        except Refusal as refusal:
            answer = answer_json({"error": refusal.message}, refusal.status)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _request(self) -> Request:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > LIMIT_BYTES or self.headers.get("Transfer-Encoding"):
            self.close_connection = True
            raise Refusal(HTTPStatus.BAD_REQUEST, f"A body of known length, {LIMIT_BYTES} bytes at most, is wanted.")
        return Request(
            method=self.command,
            path=unquote(urlsplit(self.path).path),
            key=self.headers.get("Idempotency-Key", ""),
            body=self.rfile.read(int(length)),
        )

    def _bearer(self) -> str:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        log.info(format, *args)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.info("a client of the sample went away: %r", sys.exception())  # what a killed worker leaves behind


def web_server(address: Address, state: SampleState) -> ThreadingHTTPServer:
    """Bound and listening; `.serve_forever()` answers. Raises OSError where the port is taken."""
    site = SampleSite(state, f"http://{address}")
    handler = type("SampleHandler", (_Handler,), {"site": site})
    return _Server((address.host, address.port), handler)
