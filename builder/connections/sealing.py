"""Encryption of credentials at rest: Fernet (AES-128-CBC with HMAC-SHA256), with keys that can be changed.

The newest key of settings.ENCRYPTION_KEYS seals, all of them open. What is sealed names the row that it belongs to, so
that a token copied into another row does not open there.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from builder.connections.errors import ConnectionUnreadable


@lru_cache(maxsize=4)
def _ring(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def _keys() -> MultiFernet:
    if not settings.ENCRYPTION_KEYS:
        raise ConnectionUnreadable("No encryption key is set, so connections cannot be kept. Set PAWL_ENCRYPTION_KEYS.")
    return _ring(tuple(settings.ENCRYPTION_KEYS))


def seal(owner: UUID, values: Mapping[str, Any]) -> str:
    text = json.dumps({"of": str(owner), "settings": dict(values)})
    return _keys().encrypt(text.encode()).decode()


def unseal(owner: UUID, token: str) -> dict[str, Any]:
    """Raises ConnectionUnreadable where no key opens it."""
    try:
        found = json.loads(_keys().decrypt(token.encode()))
    except InvalidToken as error:
        raise ConnectionUnreadable(
            "This connection was kept with a key that is not here any more. Add that key to PAWL_ENCRYPTION_KEYS, or"
            " enter the connection's settings again."
        ) from error
    if found["of"] != str(owner):
        raise ConnectionUnreadable("What is kept in this connection belongs to another one. Enter its settings again.")
    return cast(dict[str, Any], found["settings"])
