"""Doors to waits that programs answer: the link itself, which needs no account, and the page that shows it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api import shapes
from runs.api.views import RunDoor
from runs.callbacks import link_for, take_callback
from runs.selectors import steps
from teams.api.parsing import StrictJSONParser, read_json


class CallbackView(APIView):
    """No session and so no CSRF token: whoever has the link may answer, once. Only a POST acts."""

    authentication_classes: tuple[Any, ...] = ()
    permission_classes = (AllowAny,)
    parser_classes = (StrictJSONParser,)

    @extend_schema(
        operation_id="callBack",
        auth=[],
        request={"application/json": {"description": "Any JSON value: the step's output. No body counts as null."}},
        responses={200: shapes.CallbackTaken, 202: shapes.CallbackTaken},
    )
    def post(self, request: Request, token: str) -> Response:
        """Answers a step that waits for a callback. The first one counts; repeats change nothing (200). 202: the step
        does not wait yet, and will take this as its answer.
        """
        received = take_callback(token, _sent(request))
        return Response({"result": received.result}, status=202 if received.result == "kept" else 200)


def _sent(request: Request) -> Any:
    """The body as JSON, also where its length was not told; null where there is none."""
    raw = request.body
    if not raw:
        return None
    if request.content_type.partition(";")[0].strip() != "application/json":
        raise UnsupportedMediaType(request.content_type)
    return read_json(raw)


class LinkView(RunDoor):
    @extend_schema(operation_id="getCallbackLink", request=None, responses=shapes.CallbackLink)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The link that answers the step's present wait. Whoever has it may answer, so the trail says who asked."""
        run = self.run(workspace, run_id)
        return Response({"url": link_for(actor=self.actor, run=run, step=steps.step_for(run, path))})
