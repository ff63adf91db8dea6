"""Looks for secrets in every form, in everything that is kept."""

import base64
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import psycopg
from psycopg import sql


def searched_for(secret: str) -> list[str]:
    """Each form in which a secret is looked for; of base64 the characters that no neighbour can change."""
    raw = secret.encode()
    forms = {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret), quote_plus(secret), raw.hex()}
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode()
        inner = whole[math.ceil(before * 8 / 6) : (before + len(raw)) * 8 // 6]
        forms |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return sorted(forms)


def leaks(where: str, text: str, secrets: Iterable[str]) -> list[str]:
    lowered = text.lower()
    return [
        f"{where}: …{text[max(0, at - 60) : at + len(form) + 20]}…"
        for secret in secrets
        for form in searched_for(secret)
        if (at := lowered.find(form.lower())) >= 0
    ]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, bytes | memoryview):
        yield bytes(value).decode("latin-1")
    elif value is not None:
        yield str(value)


def database(url: str) -> Iterator[tuple[str, str]]:
    """Every value of every table."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in found:
            cursor = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
            names = [column.name for column in cursor.description or ()]
            for row in cursor:
                for name, value in zip(names, row, strict=True):
                    yield from ((f"{table}.{name}", text) for text in texts(value))
