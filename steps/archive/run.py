import shutil
import zipfile
from pathlib import Path
from typing import IO, Any

from steps import storage
from steps.archive.spec import ArchiveConfig
from steps.base import StepContext, StepFailure
from steps.write_file.run import as_json, as_utf8

# The same content must give the same bytes: a repeat after a lost result then changes nothing.
SAME_TIME = (1980, 1, 1, 0, 0, 0)
LEVEL = 6


def run(config: ArchiveConfig, ctx: StepContext) -> dict[str, Any]:
    root = ctx.storage_root.resolve()
    files = _files(config, root)
    clash = sorted(files.keys() & config.entries.keys())
    if clash:
        raise StepFailure("entry_twice", f"'{clash[0]}' is both a file and an entry. Give the entry another name.")
    inline = {name: _content(value) for name, value in config.entries.items()}
    _check_size(config, [place.stat().st_size for place in files.values()] + [len(each) for each in inline.values()])
    names = sorted(files.keys() | inline.keys())
    packed: dict[str, Any] = ctx.act(
        "write", lambda: _pack(config, ctx, {**files, **inline}), path=config.path, entries=len(names)
    )
    return {**packed, "entries": names}


def _pack(config: ArchiveConfig, ctx: StepContext, content: dict[str, Path | bytes]) -> dict[str, Any]:
    root, names = ctx.storage_root.resolve(), sorted(content)
    with storage.writing(root, config.path) as target, zipfile.ZipFile(target, "w") as archive:
        for done, name in enumerate(names, 1):
            _add(archive, name, content[name])
            ctx.progress(done, len(names), name)
    return storage.facts(root, config.path)


def _files(config: ArchiveConfig, root: Path) -> dict[str, Path]:
    """Name in the archive -> file. The archive itself is left out where its own folder is packed."""
    found: dict[str, Path] = {}
    own = storage.locate(root, config.path)
    for path in config.files:
        place = storage.locate(root, path)
        for file in sorted(place.rglob("*")) if place.is_dir() else [storage.existing_file(root, path)]:
            if file.is_file() and not file.is_symlink() and file != own and not storage.is_part(file):
                found[str(file.relative_to(root))] = file
    return found


def _content(value: Any) -> bytes:
    return as_utf8(value) if isinstance(value, str) else as_json(value)


def _check_size(config: ArchiveConfig, sizes: list[int]) -> None:
    total_mb = sum(sizes) / storage.MB
    if total_mb > config.size_limit_mb:
        raise StepFailure(
            "archive_too_large",
            f"What goes into the archive has {total_mb:.1f} MB; the step's limit is {config.size_limit_mb:g} MB.",
        )


def _add(archive: zipfile.ZipFile, name: str, source: Path | bytes) -> None:
    info = zipfile.ZipInfo(name, SAME_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # else the platform's own number would be in the bytes
    info.external_attr = 0o640 << 16
    info._compresslevel = LEVEL  # type: ignore[attr-defined]  # noqa: SLF001  # no public way before Python 3.13
    # known before, so that only entries above 2 GB get the larger kind of header
    info.file_size = len(source) if isinstance(source, bytes) else source.stat().st_size
    with archive.open(info, "w") as entry:
        _copy(source, entry)


def _copy(source: Path | bytes, entry: IO[bytes]) -> None:
    if isinstance(source, bytes):
        entry.write(source)
        return
    with source.open("rb") as file:
        shutil.copyfileobj(file, entry, storage.CHUNK)
