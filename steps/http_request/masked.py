"""Copies a response into a file without the credentials that the server may have echoed (promise P9).

What a step answers is masked by the worker; a file never passes there. Raw, URL-quoted and base64 forms, also across
the borders of chunks; values shorter than 8 characters are left, as everywhere.
"""

import base64
from collections.abc import Iterable
from typing import IO
from urllib.parse import quote

SHORTEST = 8
MASK = "••••".encode()


def forms(secrets: Iterable[str]) -> list[bytes]:
    """Every form that is looked for, the longest first."""
    found: set[bytes] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST:
            raw = secret.encode()
            found |= {raw, quote(secret, safe="").encode(), base64.b64encode(raw).rstrip(b"=")}
    return sorted(found, key=len, reverse=True)


def copy_masked(source: IO[bytes], target: IO[bytes], *, secrets: Iterable[str], chunk_bytes: int) -> None:
    wanted = forms(secrets)
    overlap = max(map(len, wanted), default=1) - 1
    held = b""
    while chunk := source.read(chunk_bytes):
        held += chunk
        for form in wanted:
            held = held.replace(form, MASK)
        cut = max(0, len(held) - overlap)  # a secret may have begun in what is kept back
        target.write(held[:cut])
        held = held[cut:]
    target.write(held)
