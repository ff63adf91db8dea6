"""Who may deliver to a webhook. Pure.

`hmac`: the header holds `t=<seconds since 1970>,v1=<hex>`, where the hex is HMAC-SHA256 of `<t>.<raw body>` under the
webhook's secret; more than one `v1` may be given. With the scheme `body` (what GitHub and others send) it is
`sha256=<hex>` of the raw body alone, which says nothing of when it was made. `bearer`: the secret itself.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Literal

from kit.errors import AppError

Security = Literal["hmac", "bearer", "none"]
Scheme = Literal["timestamped", "body"]

PARTS = re.compile(r"t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,5})", re.ASCII)
HEX = re.compile(r"(?:sha256=)?([0-9a-f]{64})", re.ASCII)


class BadSignature(AppError):
    code = "bad_signature"
    status = 401


def signed(secret: str, body: bytes, *, at: int) -> str:
    """The header that a sender adds."""
    return f"t={at},v1={digest(secret, f'{at}.'.encode() + body)}"


def digest(secret: str, text: bytes) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def check_timestamped(given: str, body: bytes, *, secret: str, now: float, tolerance_s: int) -> bytes:
    """What is signed, as a digest: the same for a replay, whatever else of it was changed. Raises BadSignature, also
    for one that was made longer ago, or further ahead, than `tolerance_s`.
    """
    found = PARTS.fullmatch(given.strip())
    if found is None:
        raise BadSignature("The signature is missing or cannot be read. It should look like t=1700000000,v1=<hex>.")
    signed_text = f"{found[1]}.".encode() + body
    right = digest(secret, signed_text)
    if not any(hmac.compare_digest(right, one) for one in found[2].replace("v1=", "").split(",")[1:]):
        raise BadSignature("The signature does not fit the body and this webhook's secret.")
    if abs(now - int(found[1])) > tolerance_s:
        raise BadSignature(f"The signature was made more than {tolerance_s} s ago or ahead. Sign each delivery anew.")
    return hashlib.sha256(signed_text).digest()


def check_body(given: str, body: bytes, *, secret: str) -> None:
    found = HEX.fullmatch(given.strip())
    if found is None or not hmac.compare_digest(digest(secret, body), found[1]):
        raise BadSignature("The signature is missing, or does not fit the body and this webhook's secret.")


def check_bearer(headers: Mapping[str, str], *, secret: str) -> None:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), secret.encode()):
        raise BadSignature("Send this webhook's secret as `Authorization: Bearer <secret>`.")
