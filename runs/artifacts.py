"""Where artifacts lie: files known by the SHA-256 of their content, in a folder of their workspace.

    <PAWL_ARTIFACT_ROOT>/<workspace>/incoming/<name>   staged by an attempt, not yet an artifact
    <PAWL_ARTIFACT_ROOT>/<workspace>/ab/abcdef...      the content

Which of them are artifacts, the database says (runs.engine.artifacts).
"""

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from django.conf import settings

INCOMING = "incoming"
CHUNK_BYTES = 1024 * 1024


def folder_of(workspace_id: UUID) -> Path:
    folder: Path = settings.ARTIFACT_ROOT / str(workspace_id)
    return folder


def place_of(workspace_id: UUID, sha256: bytes) -> Path:
    name = sha256.hex()
    return folder_of(workspace_id) / name[:2] / name


def staged(workspace_id: UUID, name: str) -> Path:
    """A file that an attempt staged. Raises ValueError for a name that leads elsewhere."""
    if not name.isalnum():
        raise ValueError(f"{name!r:.80} is no name of a staged file")
    return folder_of(workspace_id) / INCOMING / name


def digest(path: Path) -> tuple[bytes, int]:
    """SHA-256 and size."""
    found, size = hashlib.sha256(), 0
    for chunk in chunks(path):
        found.update(chunk)
        size += len(chunk)
    return found.digest(), size


def chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def take_in(source: Path, place: Path) -> None:
    """Gives the content its place, whatever lies there: it has the same content, or is being swept just now. The staged
    file stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    link = source.with_name(f"{source.name}x{time.monotonic_ns()}")
    os.link(source, link)
    link.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name, too, survives a power cut
    finally:
        os.close(folder)


def remove(place: Path) -> None:
    with suppress(FileNotFoundError):
        place.unlink()


def forget_staged(*, older_s: float) -> int:
    """Removes what attempts staged and, killed, never told of."""
    removed = 0
    for file in settings.ARTIFACT_ROOT.glob(f"*/{INCOMING}/*"):
        with suppress(FileNotFoundError):
            if time.time() - file.stat().st_mtime > older_s:
                file.unlink()
                removed += 1
    return removed
