"""The folder in which the sample's servers keep everything, and the token that they ask for."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from sample.received import Received

HIGHEST_PORT = 65535


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class BadAddress(ValueError):
    """A variable that should hold host:port holds something else; the message says which."""


def parse_address(text: str, *, name: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdigit() and 0 < int(port) <= HIGHEST_PORT):
        raise BadAddress(f"{name} is {text!r}: it should look like 127.0.0.1:8765.")
    return Address(host, int(port))


class SampleState:
    """documents/ storage/ mails/ received.jsonl token, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents = folder / "documents"
        self.storage = folder / "storage"
        self.mails = folder / "mails"
        for place in (self.documents, self.storage, self.mails):
            place.mkdir(parents=True, exist_ok=True)
        self.token = _token(folder / "token")
        self.received = Received(folder / "received.jsonl")


def _token(file: Path) -> str:
    """The bearer token of this machine's sample, made once: it is the secret that the sample's connections keep."""
    fresh = file.with_name(f".token-{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_urlsafe(32))
    try:
        os.link(fresh, file)  # fails where another process was first; that one's token counts
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return file.read_text()
