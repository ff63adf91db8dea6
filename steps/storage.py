"""Files of the workspace's storage, for bodies. No path leads out of it; a file is there whole or not at all."""

import hashlib
import mimetypes
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from steps.base import StepFailure

CHUNK = 1024 * 1024
MB = 1024 * 1024
LONGEST_NAME = 255  # bytes, in every file system that Linux is used with


def locate(root: Path, path: str) -> Path:
    """The place of a path in the storage. Raises StepFailure('path_refused') for one that leads out, links included."""
    base = root.resolve()
    try:
        place = (base / path).resolve()
        names_fit = all(len(part.encode()) <= LONGEST_NAME for part in path.split("/"))
    except (OSError, ValueError, RuntimeError) as problem:  # a link to itself, a NUL character
        raise StepFailure("path_refused", f"'{path}' is not a path in the workspace's storage.") from problem
    if path.startswith("/") or place == base or not place.is_relative_to(base):
        raise StepFailure("path_refused", f"'{path}' leads out of the workspace's storage. Use a path below it.")
    if not names_fit:
        raise StepFailure("path_refused", f"'{path}' has a name of more than {LONGEST_NAME} bytes. Shorten it.")
    return place


def existing_file(root: Path, path: str) -> Path:
    """A file that is there. Raises StepFailure('file_not_found' | 'not_a_file' | 'path_refused')."""
    place = locate(root, path)
    if not place.exists():
        raise StepFailure(
            "file_not_found", f"There is no file '{path}' in the workspace's storage.", data={"path": path}
        )
    if not place.is_file():
        raise StepFailure("not_a_file", f"'{path}' is a folder, not a file.", data={"path": path})
    return place


def read(root: Path, path: str, *, limit_bytes: int) -> bytes:
    place = existing_file(root, path)
    with place.open("rb") as file:
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise StepFailure("file_too_large", f"'{path}' is larger than {limit_bytes / MB:g} MB. Raise the step's limit.")
    return content


@contextmanager
def writing(root: Path, path: str, *, keep_existing: bool = False) -> Iterator[IO[bytes]]:
    """A new file that takes its name only when it is complete and on disk; after an error nothing is left of it.

    keep_existing: a file that is there already is replaced only by the same bytes (a repeat of our own attempt);
    otherwise StepFailure('file_exists').
    """
    place = locate(root, path)
    if place.is_dir():
        raise StepFailure("not_a_file", f"'{path}' is a folder; a file needs another name.", data={"path": path})
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as problem:
        raise StepFailure("not_a_folder", f"A part of '{path}' is a file, so nothing can be put below it.") from problem
    part = place.parent / f".pawl-{secrets.token_hex(8)}.part"
    try:  # from before the file is there: a body that is told to end may be interrupted anywhere
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o640)
        _give_name(part, place, keep_existing=keep_existing, path=path)
    except OSError as problem:
        raise StepFailure(
            "storage_failed", f"'{path}' cannot be written: {problem.strerror}.", retryable=True
        ) from problem
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _give_name(part: Path, place: Path, *, keep_existing: bool, path: str) -> None:
    if keep_existing:
        try:
            os.link(part, place)  # fails where the name is taken: no other attempt can slip between a look and a rename
        except FileExistsError:
            if digest(part) != digest(place):
                raise StepFailure(
                    "file_exists", f"'{path}' is there already, with other content.", data={"path": path}
                ) from None
    else:
        part.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name, too, survives a power cut
    finally:
        os.close(folder)


def is_part(place: Path) -> bool:
    """A file that another attempt is writing just now, or left behind when it was killed."""
    return place.name.startswith(".pawl-") and place.name.endswith(".part")


def digest(place: Path) -> str:
    """SHA-256 in hex."""
    found = hashlib.sha256()
    with place.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def facts(root: Path, path: str) -> dict[str, Any]:
    """What a step's output says of a file: path, size in bytes, sha256, content type by its name."""
    place = existing_file(root, path)
    return {
        "path": str(place.relative_to(root.resolve())),
        "size": place.stat().st_size,
        "sha256": digest(place),
        "content_type": content_type(path),
    }


def content_type(path: str) -> str:
    return mimetypes.guess_type(path)[0] or "application/octet-stream"
