"""Errors on their way out: each becomes one RFC 9457 body below /api, and a calm page elsewhere."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from kit.errors import AppError, BadInput, Forbidden, NotFound, Unavailable
from kit.fields import label_of, told_whole
from teams.api.errors import CsrfFailed, MalformedJson, NotSignedIn
from teams.api.parsing import body_too_large

CONTENT_TYPE = "application/problem+json"
logger = logging.getLogger(__name__)

PLAIN_CODES: Mapping[type[exceptions.APIException], str] = {
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.Throttled: "too_many_requests",
}

_OURS: Sequence[tuple[tuple[type[Exception], ...], Callable[[], AppError]]] = (
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), lambda: NotSignedIn("Sign in first.")),
    ((exceptions.PermissionDenied, PermissionDenied), lambda: Forbidden("You may not do this.")),
    ((exceptions.NotFound, Http404), lambda: NotFound("There is nothing here, or you may not see it.")),
    ((RequestDataTooBig,), body_too_large),
)


class DatabaseUnavailable(Unavailable):
    code = "database_unavailable"


class ServerError(AppError):
    code = "server_error"


def body_of(error: AppError) -> dict[str, Any]:
    return problem(error.status, error.code, detail=error.message, data=told_whole(error.data))


def problem(status: int, code: str, *, detail: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail, "data": data or {}}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The framework's exception handler. None lets Django log the error and answer with `server_error`."""
    body = _body_for(error)
    if body is None:
        return None
    known = {"WWW-Authenticate": getattr(error, "auth_header", None), "Retry-After": getattr(error, "wait", None)}
    headers = {name: str(value) for name, value in known.items() if value}
    return Response(body, status=body["status"], headers=headers, content_type=CONTENT_TYPE)


def _body_for(error: Exception) -> dict[str, Any] | None:
    match error:
        case AppError():
            return body_of(error)
        case exceptions.ValidationError():
            return _bad_input(error)
        case exceptions.ParseError():
            return body_of(MalformedJson(str(error.detail)))
        case OperationalError():
            logger.error("the database did not answer", exc_info=error)
            return body_of(DatabaseUnavailable("The database does not answer. Try again in a moment."))
    for kinds, make in _OURS:
        if isinstance(error, kinds):
            return body_of(make())
    if isinstance(error, exceptions.APIException):
        return problem(error.status_code, PLAIN_CODES.get(type(error), "error"), detail=str(error.detail))
    return None


def _bad_input(error: exceptions.ValidationError) -> dict[str, Any]:
    fields = [{"field": field, "message": message} for field, message in flatten(error.detail)]
    first = fields[0] if fields else {"field": "", "message": "The request cannot be read."}
    named = f"{label_of(first['field'])}: {first['message']}" if first["field"] else first["message"]
    more = f" ({len(fields) - 1} more)" if len(fields) > 1 else ""
    return body_of(BadInput(named + more, fields=fields))


def flatten(detail: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """The framework's nested error details as (field, message): ('graph.nodes[2].key', 'Required.')."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            step = "" if name == "non_field_errors" else f"[{name}]" if isinstance(name, int) else f".{name}"
            yield from flatten(inner, (at + step).lstrip("."))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            if isinstance(inner, Mapping | list):
                if inner:
                    yield from flatten(inner, f"{at}[{index}]")
            else:
                yield at, str(inner)
    else:
        yield at, str(detail)


# ------------------------------------------------------------------ outside the framework


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def answer(request: HttpRequest, error: AppError) -> HttpResponse:
    """An AppError of a plain Django view or middleware: a problem below /api, else a page."""
    if is_api(request):
        return JsonResponse(body_of(error), status=error.status, content_type=CONTENT_TYPE)
    title = HTTPStatus(error.status).phrase
    return render(request, "error.html", {"title": title, "detail": error.message}, status=error.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return answer(request, body_too_large())
    return answer(request, BadInput("The request cannot be read."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, Forbidden("You may not open this."))


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    return answer(request, CsrfFailed("This page is out of date, or came from elsewhere. Reload it and try again."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, NotFound("There is nothing at this address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Tells nothing of what happened: the log does."""
    return answer(request, ServerError("Something went wrong on our side, and is in the log. Try again."))


@csrf_exempt
def unknown_api_route(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    return answer(request, NotFound(f"There is no API route {request.path}."))
