"""Doors for other people's programs: a webhook, and the run that a delivery started. No session, no CSRF token; the
webhook's own security decides.
"""

import time
from threading import BoundedSemaphore
from typing import Any, cast
from uuid import UUID

from django.db import connection
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kit.clock import monotonic_s
from kit.errors import AppError
from runs.core.states import FINAL_RUNS
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.triggers.answer import answer_of
from runs.triggers.webhook import Delivery, Hook, checked_sender, find_hook, receive, run_of_hook
from teams.api.errors import BodyTooLarge

METHODS = ["get", "post", "put", "patch", "delete"]
LOOK_AGAIN_S = 0.1
WAITING_AT_MOST = 32  # requests of one process; more are answered at once

_waiting = BoundedSemaphore(WAITING_AT_MOST)


class RunFailed(AppError):
    """The run that was waited for has ended without an answer; `data` names it."""

    code = "run_failed"
    status = 502


class OnlyJson(BaseContentNegotiation):
    """Whatever a sender says that it accepts: its delivery counts, and answers are JSON."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return JSONRenderer(), "application/json"


class HookDoor(APIView):
    authentication_classes = []
    permission_classes = []
    content_negotiation_class = OnlyJson
    http_method_names = METHODS

    def delivery(self, request: Request, hook: Hook, *, limit: int) -> Delivery:
        """Raises BodyTooLarge, BadSignature."""
        raw: bytes = cast(Any, request).read(limit + 1)
        if len(raw) > limit:
            raise BodyTooLarge(
                f"The body is larger than {limit} bytes, the most that this webhook takes.", limit_bytes=limit
            )
        headers = {name.lower(): value for name, value in request.headers.items()}
        return checked_sender(hook, Delivery(str(request.method), headers, request.META.get("QUERY_STRING", ""), raw))


class HookView(HookDoor):
    def _receive(self, request: Request, path: str) -> Response:
        hook = find_hook(path)
        if request.method not in hook.settings.methods:
            raise exceptions.MethodNotAllowed(str(request.method))
        received = receive(hook, self.delivery(request, hook, limit=hook.settings.max_bytes))
        if hook.settings.answer == "when_done" and (found := _wait_for(hook, received.run_id)) is not None:
            return found
        where = f"/hooks/{path}/runs/{received.run_id}"
        body = {
            "run_id": received.run_id,
            "number": received.number,
            "replayed": not received.is_new,
            "location": where,
        }
        return Response(body, status=202, headers={"Location": where})

    get = post = put = patch = delete = _receive


class HookRunView(HookDoor):
    def get(self, request: Request, path: str, run_id: UUID) -> Response:
        """How the run stands, for who may deliver: 202 while it goes on."""
        hook = find_hook(path)
        self.delivery(request, hook, limit=0)
        found = _answer(hook, run_id)
        return Response({"run_id": run_id, "status": run_of_hook(hook, run_id).status}, 202) if found is None else found


def _wait_for(hook: Hook, run_id: UUID) -> Response | None:
    """The run's answer, if it comes in time. While it waits it holds a thread, and no connection of the database."""
    if not _waiting.acquire(blocking=False):
        return None
    try:
        ends_at = monotonic_s() + hook.settings.wait_s
        while (found := _answer(hook, run_id)) is None and monotonic_s() < ends_at:
            connection.close()
            time.sleep(LOOK_AGAIN_S)
        return found
    finally:
        _waiting.release()


def _answer(hook: Hook, run_id: UUID) -> Response | None:
    """None while it goes on. Raises RunFailed, AnswerTooLarge."""
    run = run_of_hook(hook, run_id)
    if run.status not in FINAL_RUNS:
        return None
    if run.status != "succeeded":
        raise RunFailed(f"Run {run.number} has {run.status}.", run_id=str(run_id), number=run.number, status=run.status)
    with errors_as_djangos():
        output = answer_of(raw_connection(), run_id)
    return Response({"run_id": run_id, "number": run.number, "status": run.status, "output": output})
