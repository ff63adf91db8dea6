"""The token of a link by which a program answers a wait."""

import base64
import hashlib
import hmac


def callback_token(secret: str, step_run_id: int, *, round_: int) -> str:
    """43 characters that nobody can guess without the secret; the same for all attempts that send the link out.

    `round_` is how many waits of the step run were closed without an answer: a resume asks by a new link.
    """
    message = f"pawl callback {step_run_id} {round_}".encode()
    return base64.urlsafe_b64encode(hmac.digest(secret.encode(), message, "sha256")).decode().rstrip("=")


def token_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
