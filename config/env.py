"""Typed readers of the environment that fail loudly. The only place that reads os.environ."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit


class BadEnvironment(Exception):
    """A variable is missing or cannot be read; the message names it and says what it should hold."""


def text(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise BadEnvironment(f"{name} is not set. `make run` sets it; elsewhere set it yourself (docs/operating.md).")
    return value


def flag(name: str, *, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    if value:
        raise BadEnvironment(f"{name} is {value!r}: it should be true or false.")
    return default


def number(name: str, default: int, *, least: int = 0) -> int:
    raw = os.environ.get(name)
    if raw is None:
        return default
    try:
        value = int(raw)
    except ValueError as error:
        raise BadEnvironment(f"{name} is {raw!r}: it should be a whole number.") from error
    if value < least:
        raise BadEnvironment(f"{name} is {value}: it should be {least} or more.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list, without empty entries."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def path(name: str, default: Path) -> Path:
    return Path(os.environ.get(name) or default)


def database(name: str) -> dict[str, str]:
    """postgresql://user:password@host:port/name -> Django's setting, without options."""
    url = urlsplit(text(name))
    if url.scheme not in ("postgresql", "postgres") or not url.path.strip("/"):
        raise BadEnvironment(f"{name} should look like postgresql://user:password@host:5432/name.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
    }


def for_children(**more: str) -> dict[str, str]:
    """The environment of processes that stand on the same servers as this one."""
    return {**os.environ, **more}
