"""Secrets that are made on the first start and kept in the state folder, readable by its owner alone."""

import base64
import os
import secrets
from pathlib import Path


def password() -> str:
    return secrets.token_urlsafe(18)


def encryption_key() -> str:
    """In the form that Fernet wants."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


class Keys:
    """One file a secret; written beside and moved into place, so that a killed start leaves no half of one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)

    def get(self, name: str) -> str:
        path = self._folder / name
        if path.exists():
            return path.read_text().strip()
        value = encryption_key() if name == "encryption" else password()
        self._write(path, value)
        return value

    def _write(self, path: Path, value: str) -> None:
        making = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(making, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(value + "\n")
            file.flush()
            os.fsync(file.fileno())
        making.rename(path)
