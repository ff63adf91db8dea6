"""What the connection store knows of a kind beyond the schema in steps.connections: where it leads, what is secret."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from builder.connections.errors import BadConnection
from kit.fields import label_of
from steps.connections import KINDS, secret_fields

# Settings that say where credentials are sent, and how safely. Whoever changes one must enter the secrets again: else a
# person who may not read a password could have it sent to a server of their own.
DESTINATION: Mapping[str, tuple[str, ...]] = {
    "http": ("base_url",),
    "sql": ("engine", "host", "port", "tls"),
    "smtp": ("host", "port", "security"),
}


@dataclass(frozen=True)
class Shown:
    """A connection as the API may show it."""

    settings: dict[str, Any]
    secrets: list[str]  # names of the secret fields that hold something


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        message = f"There is no connection kind '{kind}'. Choose one of: {known}."
        raise BadConnection(message, fields=[{"field": "kind", "message": message}])


def checked(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults. Raises BadConnection naming each wrong field, and never a value."""
    try:
        return KINDS[kind].model_validate(dict(values)).model_dump(mode="json")
    except ValidationError as error:
        fields = [
            {
                "field": ".".join(["settings", *map(str, each["loc"])]),
                "label": _label(kind, each["loc"]),
                "message": each["msg"],
            }
            for each in error.errors(include_input=False, include_context=False, include_url=False)
        ]
        raise BadConnection(f"{fields[0]['label']}: {fields[0]['message']}", fields=fields) from None


def _label(kind: str, loc: Sequence[str | int]) -> str:
    """The title that the form of the kind shows."""
    field = KINDS[kind].model_fields.get(str(loc[0])) if loc else None
    return (field.title if field else None) or label_of(".".join(map(str, loc)) or "settings")


def shown(kind: str, values: Mapping[str, Any]) -> Shown:
    hidden = secret_fields(kind)
    return Shown(
        settings={name: value for name, value in values.items() if name not in hidden},
        secrets=sorted(name for name in hidden if values.get(name)),
    )


def merged(kind: str, kept: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """`given`, with the kept secrets that it leaves out. Raises BadConnection where these would go to another place."""
    missing = {name: kept[name] for name in secret_fields(kind) if name not in given and kept.get(name)}
    complete = checked(kind, {**given, **missing})
    moved = [name for name in DESTINATION[kind] if complete[name] != kept.get(name)]
    if missing and moved:
        message = f"Enter this again, since '{moved[0]}' changes where it is sent."
        fields = [{"field": f"settings.{name}", "message": message} for name in sorted(missing)]
        raise BadConnection(f"settings.{min(missing)}: {message}", fields=fields)
    return complete


def secrets_of(kind: str, values: Mapping[str, Any]) -> frozenset[str]:
    """Every text in a connection's settings that must never be seen: what builder.connections.masking masks."""
    return frozenset(text for name in secret_fields(kind) for text in _texts(values.get(name)) if text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value
        yield from value.split()  # 'Bearer abc': the token alone is as secret
        if "://" in value:
            yield from _password_in(value)


def _password_in(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password
    except ValueError:  # no address after all
        return
    if password:
        yield password
        yield unquote(password)
