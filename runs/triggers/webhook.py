"""A delivery to a webhook: who sent it, whether it came before, and the run that it starts.

The ledger's row of a delivery and its run are one transaction. A delivery that comes again (the same name, or the same
signature) is answered with the same run; one that could not start a run may be sent again.
"""

import base64
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.db import transaction

from builder.connections.masking import Masker
from builder.connections.sealing import unseal
from kit.errors import AppError
from kit.failpoints import failpoint
from kit.ids import new_id
from runs.engine.check_input import LookedTooEarly
from runs.engine.start import Started
from runs.masking import masker_of
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.store.read import Connection
from runs.triggers.errors import DeliveryReused, TooManyFields, WebhookBusy, WebhookNotFound, WebhookNotReady
from runs.triggers.fire import Firing, Look, TargetArchived, TargetNotPublished, fire, look_at
from runs.triggers.shapes import HEADERS, WebhookSettings, webhook_of
from runs.triggers.signature import check_bearer, check_body, check_timestamped
from teams.api.parsing import read_json

LONGEST_KEY = 150
NO_SECRETS = Masker(())
MOST_FIELDS = 1_000  # of a query, and of a form
LOOKS = 3  # at the input of one delivery: each time that another version was published meanwhile

# Index: the unique one of path. The lock keeps the trigger from being deleted meanwhile; where deliveries are counted,
# one comes after the other.
FIND = """SELECT id, workspace_id, name, settings, secret, statement_timestamp() FROM runs_trigger
    WHERE path = %s AND kind = 'webhook' AND is_enabled"""
# Index: firing_rate.
RECENT = """SELECT count(*), extract(epoch FROM statement_timestamp() - min(created_at)) FROM (
    SELECT created_at FROM runs_firing WHERE trigger_id = %s
    AND created_at > statement_timestamp() - interval '60 seconds' ORDER BY created_at DESC LIMIT %s) f"""
ADD = """INSERT INTO runs_firing (trigger_id, key, signature, status, due_at, digest, created_at)
    VALUES (%s, %s, %s, 'queued', statement_timestamp(), %s, statement_timestamp())
    ON CONFLICT DO NOTHING RETURNING id"""
# Indexes: firing_once, firing_signature.
EARLIER = """SELECT f.id, f.status, f.digest, f.run_id, r.number
    FROM runs_firing f LEFT JOIN runs_run r ON r.id = f.run_id
    WHERE f.trigger_id = %s AND (f.key = %s OR f.signature = %s) ORDER BY f.id LIMIT 1"""
AGAIN = "UPDATE runs_firing SET status = 'queued', reason = NULL, detail = NULL WHERE id = %s"
OF_HOOK = "SELECT status, number, error FROM runs_run WHERE id = %s AND trigger_id = %s"


@dataclass(frozen=True)
class Hook:
    """An enabled webhook, and the database's time when it was looked up."""

    id: UUID
    workspace_id: UUID
    name: str
    path: str
    settings: WebhookSettings
    secret: str = field(repr=False)
    now: datetime


@dataclass(frozen=True)
class Delivery:
    """What came in. Names of headers are in small letters."""

    method: str
    headers: Mapping[str, str]
    query: str
    body: bytes
    signature: bytes | None = None  # what was signed of it, with its time


@dataclass(frozen=True)
class Received:
    run_id: UUID
    number: int
    is_new: bool  # else it came before


def find_hook(path: str) -> Hook:
    """Raises WebhookNotFound, the same for one that is disabled and one that never was."""
    with errors_as_djangos():
        return _find(raw_connection(), path)


def _find(connection: Connection, path: str, *, lock: str = "") -> Hook:
    found = None if "\0" in path else connection.execute(f"{FIND} {lock}", (path,)).fetchone()
    if found is None:
        raise WebhookNotFound("There is no webhook at this address.")
    id_, workspace_id, name, settings, sealed, now = found
    return Hook(id_, workspace_id, name, path, webhook_of(settings), str(unseal(id_, sealed)["secret"]), now)


def checked_sender(hook: Hook, delivery: Delivery) -> Delivery:
    """The delivery, with what was signed of it. Raises BadSignature."""
    settings = hook.settings
    if settings.security == "bearer":
        check_bearer(delivery.headers, secret=hook.secret)
    elif settings.security == "hmac":
        given = delivery.headers.get(settings.signature_header.lower(), "")
        if settings.signature == "body":
            check_body(given, delivery.body, secret=hook.secret)
        else:
            signature = check_timestamped(
                given, delivery.body, secret=hook.secret, now=hook.now.timestamp(), tolerance_s=settings.tolerance_s
            )
            return replace(delivery, signature=signature)
    return delivery


def receive(hook: Hook, delivery: Delivery) -> Received:
    """Starts the run, or finds the one of the same delivery. What it holds of the workspace's connections, or of the
    webhook's own secret, is masked. Raises MalformedJson, TooManyFields, DeliveryReused,
    WebhookBusy, WebhookNotReady, BadRunInput, InputTooLarge.
    """
    masker = masker_of(hook.workspace_id, hook.secret)
    incoming = _Incoming(
        key_of(hook.settings, delivery, masker), digest_of(delivery), delivery.signature,
        masker.value(input_of(hook.settings, delivery, masker)),
    )  # fmt: skip
    for _ in range(LOOKS):
        with errors_as_djangos():
            look = _look(raw_connection(), hook, incoming)
        with suppress(LookedTooEarly):
            return _received(hook, incoming, look)
    raise WebhookNotReady("The workflow of this webhook changes just now. Send it again.")


@dataclass(frozen=True)
class _Incoming:
    """What is kept of a delivery."""

    key: str
    digest: bytes
    signature: bytes | None
    run_input: Any


def _look(connection: Connection, hook: Hook, new: _Incoming) -> Look | None:
    """At the input, while nothing is locked; None where the delivery came before. What is refused anyway is not looked
    at: nobody's schema is worked through for it.
    """
    earlier = _earlier(connection, (hook.id, new.key, new.signature), digest=new.digest)
    if earlier is not None and earlier[1] is not None:
        return None
    if earlier is None:
        _check_rate(connection, hook)
    return look_at(connection, hook.id, new.run_input)


def _received(hook: Hook, new: _Incoming, look: Look | None) -> Received:
    with errors_as_djangos(), transaction.atomic():
        connection = raw_connection()
        counted = hook.settings.per_minute is not None
        locked = _find(connection, hook.path, lock="FOR NO KEY UPDATE" if counted else "FOR KEY SHARE")
        done = _take(connection, locked, new, look=look)
        failpoint("in_delivery")
    if isinstance(done, TargetArchived | TargetNotPublished):
        raise WebhookNotReady("This webhook cannot take deliveries just now. Send it again later.")
    if isinstance(done, AppError):
        raise done
    return done


def _take(connection: Connection, hook: Hook, new: _Incoming, *, look: Look | None) -> Received | AppError:
    names = (hook.id, new.key, new.signature)
    if (earlier := _earlier(connection, names, digest=new.digest, lock="FOR UPDATE OF f")) is not None:
        firing_id, received = earlier
        if received is not None:
            return received
        connection.execute(AGAIN, (firing_id,))
    else:
        _check_rate(connection, hook)
        added = connection.execute(ADD, (hook.id, new.key, new.signature, new.digest)).fetchone()
        if added is None:  # the same one came in at the same moment
            return _take(connection, hook, new, look=look)
        (firing_id,) = added
    fired = fire(connection, Firing(firing_id, hook.id, "webhook", hook.name, new.run_input), look)
    if not isinstance(fired, Started):
        return fired
    if fired.told is not None:
        transaction.on_commit(fired.told.announce)
    return Received(fired.run_id, fired.number, is_new=True)


def _earlier(
    connection: Connection, names: tuple[UUID, str, bytes | None], *, digest: bytes, lock: str = ""
) -> tuple[int, Received | None] | None:
    """The ledger's row of that delivery, and the run that it has started."""
    found = connection.execute(f"{EARLIER} {lock}", names).fetchone()
    if found is None:
        return None
    id_, status, kept, run_id, number = found
    if bytes(kept) != digest:
        raise DeliveryReused("A delivery of that name came before with another content. Name each delivery anew.")
    return id_, Received(run_id, number or 0, is_new=False) if status == "fired" else None


def _check_rate(connection: Connection, hook: Hook) -> None:
    at_most = hook.settings.per_minute
    if at_most is None:
        return
    count, oldest_s = connection.execute(RECENT, (hook.id, at_most)).fetchone() or (0, 0)
    if count >= at_most:
        wait = max(1, ceil(60 - float(oldest_s)))
        raise WebhookBusy(f"This webhook takes {at_most} deliveries a minute. Send it again in {wait} s.", wait=wait)


# ---------------------------------------------------------------------- what came in


def key_of(settings: WebhookSettings, delivery: Delivery, masker: Masker = NO_SECRETS) -> str:
    """The sender's name for the delivery, else what was signed of it. Without either, every delivery is a new one. A
    name that cannot be kept as it is (too long, or a secret) is kept as its hash.
    """
    if named := delivery.headers.get(settings.delivery_header.lower(), ""):
        is_plain = len(named) <= LONGEST_KEY and named.isprintable()  # PostgreSQL keeps no NUL
        is_plain = is_plain and masker.text(named) == named
        return f"delivery {named if is_plain else hashlib.sha256(named.encode()).hexdigest()}"
    return f"call {new_id()}" if delivery.signature is None else f"signature {delivery.signature.hex()}"


def digest_of(delivery: Delivery) -> bytes:
    return hashlib.sha256(f"{delivery.method} {delivery.query}\n".encode() + delivery.body).digest()


def input_of(settings: WebhookSettings, delivery: Delivery, masker: Masker = NO_SECRETS) -> Any:
    """The run's input, not masked yet but for what base64 would hide. `raw` is the body as it came, byte for byte;
    `body` is what it says, as far as it can be read (alone where the settings want no more). Raises MalformedJson where
    it says that it is JSON and is not, and TooManyFields.
    """
    if settings.input == "body":
        return _body(delivery)
    wanted = [*HEADERS, settings.delivery_header.lower(), *(name.lower() for name in settings.headers)]
    return {
        "method": delivery.method,
        "headers": {name: delivery.headers[name] for name in dict.fromkeys(wanted) if name in delivery.headers},
        "query": _form(delivery.query),
        "body": _body(delivery),
        "raw": _raw(delivery.body, masker),
    }


def _body(delivery: Delivery) -> Any:
    kind = delivery.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not delivery.body:
        return None
    if kind == "application/json" or kind.endswith("+json"):
        return read_json(delivery.body)
    text = _text(delivery.body)
    if text is not None and kind == "application/x-www-form-urlencoded":
        return _form(text)
    return text if kind.startswith("text/") else None


def _form(text: str) -> dict[str, Any]:
    """Each name's value; where a name comes several times, the list of its values. Raises TooManyFields."""
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        message = f"The query or the form has more than {MOST_FIELDS} fields. Send less, or JSON."
        raise TooManyFields(message, limit=MOST_FIELDS) from error
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _raw(body: bytes, masker: Masker) -> dict[str, str]:
    text = _text(body)
    if text is None:
        return {"encoding": "base64", "data": base64.b64encode(masker.data(body)).decode()}
    return {"encoding": "utf-8", "data": text}


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


# ---------------------------------------------------------------------- the run that it started


@dataclass(frozen=True)
class RunState:
    status: str
    number: int
    error: str | None


def run_of_hook(hook: Hook, run_id: UUID) -> RunState:
    """Raises WebhookNotFound for a run that this webhook has not started."""
    with errors_as_djangos():
        found = raw_connection().execute(OF_HOOK, (run_id, hook.id)).fetchone()
    if found is None:
        raise WebhookNotFound("This webhook has started no such run.")
    return RunState(*found)
