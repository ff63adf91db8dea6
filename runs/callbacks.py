"""What programs do by a link alone: they have no account, and the link's token is what lets them."""

from typing import Any

from django.conf import settings
from django.db import transaction

from kit.errors import AppError, Conflict
from runs.attempt import callback_url
from runs.engine.callback import Received, issue, receive, workspace_of
from runs.masking import masker_of
from runs.models import Run, StepRun
from runs.payloads import json_text
from runs.store.djangos import errors_as_djangos, raw_connection
from steps import registry
from teams import audit
from teams.access import Actor, Permission, require


class CallbackTooLarge(AppError):
    code = "callback_too_large"
    status = 413


class NoCallback(Conflict):
    code = "no_callback"


def take_callback(token: str, given: Any) -> Received:
    """`given` is any JSON value; secrets of connections in it, and the link itself, are masked. Repeats change nothing.

    Raises CallbackNotFound, CallbackClosed, CallbackTooLarge.
    """
    body, limit = json_text(given), settings.CALLBACK_LIMIT_BYTES
    if len(body) > limit:
        message = f"The callback has {len(body)} bytes of JSON; at most {limit} are taken."
        raise CallbackTooLarge(message, limit_bytes=limit)
    with errors_as_djangos():
        workspace_id = workspace_of(raw_connection(), token)
    kept = json_text(masker_of(workspace_id, token).value(given))
    with errors_as_djangos(), transaction.atomic():
        received = receive(raw_connection(), token, kept)
    if received.told is not None:
        transaction.on_commit(received.told.announce)
    return received


def link_for(*, actor: Actor, run: Run, step: StepRun) -> str:
    """The present link of a step that waits for a callback, for somebody who may answer. Recorded in the audit trail.

    Raises NoCallback where the step's kind takes none.
    """
    require(actor, Permission.APPROVE, run.workspace)
    if not registry.get(step.kind).has_callback:
        raise NoCallback(f"The step '{step.path}' waits for no callback.", path=step.path)
    with errors_as_djangos(), transaction.atomic():
        tokens = issue(raw_connection(), run.id, {"link": step.path}, secret=settings.SECRET_KEY)
        audit.record(actor, "run.callback_link", target=run, workspace=run.workspace, data={"path": step.path})
    return callback_url(tokens["link"])
