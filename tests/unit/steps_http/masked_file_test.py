"""A credential that a server echoes is in no file of the storage."""

import base64
import io
from urllib.parse import quote

import pytest

from steps.http_request.masked import copy_masked

SECRET = "s3cr3t/token+1"


def copied(raw: bytes, *, chunk_bytes: int) -> bytes:
    target = io.BytesIO()
    copy_masked(io.BytesIO(raw), target, secrets=[SECRET, "short"], chunk_bytes=chunk_bytes)
    return target.getvalue()


@pytest.mark.parametrize("chunk_bytes", [1, 3, 7, 1024])
@pytest.mark.parametrize(
    "form",
    [SECRET.encode(), quote(SECRET, safe="").encode(), base64.b64encode(SECRET.encode())],
    ids=["raw", "url", "b64"],
)
def test_each_form_is_masked_wherever_the_chunks_end(form: bytes, chunk_bytes: int) -> None:
    found = copied(b"before " + form + b" between " + form + b" after short", chunk_bytes=chunk_bytes)
    assert form.rstrip(b"=") not in found
    assert found.startswith(b"before ")
    assert found.endswith(b" after short")


def test_what_holds_no_secret_is_copied_as_it_is() -> None:
    raw = bytes(range(256)) * 50
    assert copied(raw, chunk_bytes=100) == raw
