"""The page that the single-page application lives in."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.cache import add_never_cache_headers

ENTRY = "src/app/main.tsx"
TOKENS = "src/app/tokens.css"


@dataclass(frozen=True)
class Assets:
    """Addresses of what Vite built for the application's entry."""

    script: str
    preloads: tuple[str, ...]
    styles: tuple[str, ...]


class FrontEndMissing(Exception):
    """The front end was not built on this machine."""


def manifest_path() -> Path:
    """The collected one first: it names the files that are served."""
    collected = Path(settings.STATIC_ROOT) / "manifest.json"
    return collected if collected.is_file() else Path(settings.BASE_DIR) / "frontend" / "dist" / "manifest.json"


@lru_cache(maxsize=4)
def _manifest(path: Path, changed_ns: int) -> dict[str, dict[str, object]]:
    """`changed_ns` is part of the key: a new build is seen without a restart."""
    loaded: dict[str, dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def manifest() -> dict[str, dict[str, object]]:
    path = manifest_path()
    try:
        return _manifest(path, path.stat().st_mtime_ns)
    except FileNotFoundError as error:
        raise FrontEndMissing from error


def assets(chunks: dict[str, dict[str, object]]) -> Assets:
    """The entry's script, the scripts that it imports at once, and the styles of all of them, in order."""
    names: list[str] = []
    seen: set[str] = set()  # chunks may import each other

    def collect(name: str) -> None:
        if name not in seen:
            seen.add(name)
            for imported in _texts(chunks[name], "imports"):
                collect(imported)
            names.append(name)

    collect(ENTRY)
    styles = dict.fromkeys(style for name in names for style in _texts(chunks[name], "css"))
    preloads = tuple(static(str(chunks[name]["file"])) for name in names if name != ENTRY)
    return Assets(static(str(chunks[ENTRY]["file"])), preloads, tuple(static(style) for style in styles))


def _texts(chunk: dict[str, object], field: str) -> list[str]:
    found = chunk.get(field, [])
    return [str(each) for each in found] if isinstance(found, list) else []


@login_required
def app(request: HttpRequest, rest: str = "") -> HttpResponse:
    """The same page for every address: the application reads the address itself."""
    try:
        context = {"assets": assets(manifest())}
    except FrontEndMissing:
        response = render(request, "front_end_missing.html", status=503)
    else:
        response = render(request, "app.html", context)
    add_never_cache_headers(response)
    return response


def style_tokens(request: HttpRequest) -> dict[str, str]:
    """Template context: the address of the style tokens that the sign-in pages share with the application."""
    try:
        chunk = manifest().get(TOKENS, {})
    except FrontEndMissing:
        return {}
    styles = _texts(chunk, "css") or [str(chunk["file"])] if "file" in chunk else []
    return {"tokens_css": static(styles[0])} if styles else {}
