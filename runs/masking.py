"""What comes into a run from outside holds no value of a connection: masked before it is stored (promise P9).

A value that a run goes on with is masked. What is a name (an idempotency key, a limit) or is kept as somebody's
settings is refused instead: masked, it would be another one.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from builder.connections.masking import LEAST, MARK, Masker
from builder.connections.selectors import secrets_in
from kit.errors import BadInput
from runs.payloads import json_text

MARK_AS_JSON = json_text(MARK).strip('"')


class HoldsSecret(BadInput):
    """`data.fields` names what holds it; the value itself is nowhere in the answer."""

    code = "holds_secret"


def masker_of(workspace_id: UUID, *more: str) -> Masker:
    """Of all connections of the workspace: nobody knows where a value that comes in was taken from. `more` are secrets
    of the door itself: a webhook's, a link's token.
    """
    return Masker([*secrets_in(workspace_id), *more])


def masker_for(workspace_id: UUID, *values: Any) -> Masker:
    """What masks these JSON values. Where all are too short to hold a secret, nobody looks at the connections."""
    return masker_of(workspace_id) if any(len(json_text(value)) >= LEAST for value in values) else Masker(())


def masked(workspace_id: UUID, value: Any) -> Any:
    """A JSON value from outside, as it may be kept."""
    return masker_for(workspace_id, value).value(value)


def is_shown(value: Any) -> bool:
    """Whether MARK stands in it: somebody copied what was masked, and it would be taken for the value itself."""
    return MARK_AS_JSON in json_text(value)


def refuse_secrets(masker: Masker, given: Mapping[str, Any]) -> None:
    """`given` by the names of the request's fields. Raises HoldsSecret."""
    message = "It holds the secret of a connection, and would be shown to everybody: name the connection instead."
    fields = [{"field": name, "message": message} for name, value in given.items() if masker.value(value) != value]
    if fields:
        raise HoldsSecret(message, fields=fields)
