"""Files on their way from a body to where artifacts lie: copied by the child, looked through by the worker."""

import mimetypes
import re
import stat
from pathlib import Path
from uuid import uuid4

from builder.connections.masking import Masker
from steps.base import StepFailure

CHUNK_BYTES = 1024 * 1024
NAME_CHARS = 200
MEDIA_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}(; ?charset=[\w-]{1,40})?")


def stage(source: Path, folder: Path, *, allowed: tuple[Path, ...], limit_bytes: int) -> str:
    """Copies a file into `folder`, in pieces. Answers the copy's name. Raises StepFailure."""
    source = _judged(source, allowed)
    name = uuid4().hex
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as read, target.open("xb") as written:
            left = limit_bytes
            while chunk := read.read(min(CHUNK_BYTES, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise StepFailure(
                        "artifact_too_large", f"'{source.name}' is larger than {limit_bytes:,} bytes, the most that an "
                        "artifact may have.", data={"limit_bytes": limit_bytes},
                    )  # fmt: skip
                written.write(chunk)
    except OSError as problem:
        target.unlink(missing_ok=True)
        message = f"The artifact '{source.name}' cannot be kept: {problem.strerror}."
        raise StepFailure("artifact_failed", message, retryable=True) from problem
    except StepFailure:
        target.unlink(missing_ok=True)
        raise
    return name


def _judged(source: Path, allowed: tuple[Path, ...]) -> Path:
    """The file itself, without links. Only what lies in the attempt's own folder or in the workspace's storage."""
    try:
        place = source.resolve(strict=True)
        is_file = stat.S_ISREG(place.stat().st_mode)
    except OSError as problem:
        raise StepFailure("artifact_missing", f"There is no file '{source}' to keep.") from problem
    if not is_file or not any(place.is_relative_to(folder.resolve()) for folder in allowed):
        message = f"'{source}' is no file of this attempt's folder or of the workspace's storage: it is not kept."
        raise StepFailure("artifact_outside", message)
    return place


def named(name: str, media_type: str | None) -> tuple[str, str]:
    """A name that a browser may save the file under, and a media type. Raises StepFailure."""
    if not 0 < len(name) <= NAME_CHARS or not name.isprintable() or "/" in name or "\\" in name:
        message = f"An artifact's name has 1 to {NAME_CHARS} printable characters and no slash; not {name!r:.80}."
        raise StepFailure("bad_artifact", message)
    kind = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    if not MEDIA_TYPE.fullmatch(kind):
        raise StepFailure("bad_artifact", f"{kind!r:.80} is no media type, as text/csv is one.")
    return name, kind


def shows_secret(path: Path, masker: Masker) -> bool:
    """Whether a credential stands in the file as it is written. What is compressed in it is not looked into."""
    if not masker:
        return False
    with path.open("rb") as file:
        return masker.is_in(iter(lambda: file.read(CHUNK_BYTES), b""))
