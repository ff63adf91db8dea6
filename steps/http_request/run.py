import base64
import email.utils
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from steps import connections, storage
from steps.base import StepContext, StepFailure
from steps.http_request.response import content, excerpt
from steps.http_request.spec import SAFE_METHODS, HttpRequestConfig
from steps.outbound import Answer, Limits, Request, exchange

LONGEST_RETRY_AFTER_S = 24 * 3600.0
RETRYABLE_4XX = frozenset({408, 425, 429})


def run(config: HttpRequestConfig, ctx: StepContext) -> dict[str, Any]:
    """A request that may change something is an act: what is about to be sent is stored before, the answer after it."""
    if config.method in SAFE_METHODS:
        return send(config, ctx)
    answer: dict[str, Any] = ctx.act(
        "request", lambda: send(config, ctx), method=config.method, url=config.url, key_header=config.key_header
    )
    return answer


def send(config: HttpRequestConfig, ctx: StepContext) -> dict[str, Any]:
    request = _with_connection(_request(config, ctx), config, ctx)
    limits = Limits(
        timeout_s=config.timeout_s,
        response_bytes=int(config.size_limit_mb * storage.MB),
        redirects=5 if config.follow_redirects else 0,
    )
    ctx.log(f"{request.method} {request.url}")
    started = time.monotonic()
    with exchange(request, allow=ctx.outbound_allow, limits=limits) as answer:
        ctx.log(f"{answer.status} after {time.monotonic() - started:.2f} s, {answer.size} bytes")
        if not is_expected(answer.status, config.expected_status):
            raise _unexpected(answer, request)
        return {"status": answer.status, "headers": dict(answer.headers), "url": answer.url} | content(
            answer, config, ctx, secrets=_secrets(config, ctx)
        )


def _request(config: HttpRequestConfig, ctx: StepContext) -> Request:
    body, content_type = _body(config, ctx)
    headers = {"User-Agent": "Pawl", **({"Content-Type": content_type} if content_type else {})}
    if isinstance(body, _FileContent):  # else it would go out in chunks, which many storage servers refuse
        headers["Content-Length"] = str(body.size)
    headers = _merged(headers, {config.key_header: ctx.idempotency_key})
    return Request(
        config.method, with_query(config.url, config.query), headers=_merged(headers, config.headers), content=body
    )


def _merged(base: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
    """Headers by name without regard to case: the author's own replaces ours."""
    taken = {name.lower() for name in over}
    return {**{name: value for name, value in base.items() if name.lower() not in taken}, **over}


def _body(config: HttpRequestConfig, ctx: StepContext) -> tuple[bytes | Iterable[bytes] | None, str]:
    match config.body_type:
        case "none":
            return None, ""
        case "json":
            return json.dumps(config.body, ensure_ascii=True, allow_nan=False).encode("ascii"), "application/json"
        case "text":
            if not isinstance(config.body, str):
                raise StepFailure("bad_body", "The body of type text must be a text. Choose json for any other value.")
            return config.body.encode("utf-8", "surrogatepass"), "text/plain; charset=utf-8"
        case "form":
            if not isinstance(config.body, dict):
                raise StepFailure("bad_body", "The body of type form must be names and values.")
            return urlencode(_pairs(config.body)).encode("ascii"), "application/x-www-form-urlencoded"
        case "file":
            path = str(config.body)
            return _FileContent(storage.existing_file(ctx.storage_root, path)), storage.content_type(path)


class _FileContent:
    """A file that can be sent again after a redirect, and is never in memory whole."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.size = place.stat().st_size

    def __iter__(self) -> Iterator[bytes]:
        with self._place.open("rb") as file:
            while chunk := file.read(64 * 1024):
                yield chunk


def with_query(url: str, query: Mapping[str, Any]) -> str:
    pairs = _pairs(query)
    if not pairs:
        return url
    address, mark, fragment = url.partition("#")
    return f"{address}{'&' if '?' in address else '?'}{urlencode(pairs)}{mark}{fragment}"


def _pairs(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        several = value if isinstance(value, list) else [value]
        found += [(name, each if isinstance(each, str) else json.dumps(each)) for each in several if each is not None]
    return found


# ------------------------------------------------------------------ credentials


def _with_connection(request: Request, config: HttpRequestConfig, ctx: StepContext) -> Request:
    if config.connection is None:
        return request
    settings = connections.read(ctx, config.connection, connections.HttpConnection)
    url = request.url
    if "://" not in url:
        url = f"{settings.base_url.rstrip('/')}/{url.lstrip('/')}" if url.strip("/") else settings.base_url
    if not is_below(url, settings.base_url):
        raise StepFailure(
            "outside_connection",
            f"'{config.url}' is not below {settings.base_url}, the base address of the connection "
            f"'{config.connection}'. Its credentials go nowhere else.",
        )
    credentials = dict(settings.headers)
    if settings.token:
        credentials["Authorization"] = f"Bearer {settings.token}"
    elif settings.user:
        pair = base64.b64encode(f"{settings.user}:{settings.password}".encode()).decode("ascii")
        credentials["Authorization"] = f"Basic {pair}"
    return replace(
        request, url=url, credentials=credentials, trusted=lambda target: is_below(target, settings.base_url)
    )


def _secrets(config: HttpRequestConfig, ctx: StepContext) -> list[str]:
    """What the connection holds that no file of the storage may show."""
    if config.connection is None:
        return []
    settings = connections.read(ctx, config.connection, connections.HttpConnection)
    pair = base64.b64encode(f"{settings.user}:{settings.password}".encode()).decode("ascii")
    return [settings.token, settings.password, pair if settings.password else "", *settings.headers.values()]


def is_below(url: str, base: str) -> bool:
    """Same scheme, host and port, and a path that continues the base's at a '/', without a way back up."""
    try:
        one, other = urlsplit(url), urlsplit(base)
        same = (one.scheme, one.hostname, _port(one)) == (other.scheme, other.hostname, _port(other))
    except ValueError:
        return False
    if not same or "@" in one.netloc:
        return False
    lowered = one.path.lower().replace("%2e", ".").replace("%5c", "/").replace("\\", "/").replace("%2f", "/")
    folder = other.path.rstrip("/")
    return ".." not in lowered.split("/") and (one.path == folder or one.path.startswith(f"{folder}/"))


def _port(parts: Any) -> int:
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)


# ------------------------------------------------------------------ status


def is_expected(status: int, expected: str) -> bool:
    for part in expected.split(","):
        first, _, last = part.strip().partition("-")
        if first.endswith("xx"):
            if status // 100 == int(first[0]):
                return True
        elif int(first) <= status <= int(last or first):
            return True
    return False


def _unexpected(answer: Answer, request: Request) -> StepFailure:
    text = excerpt(answer)
    return StepFailure(
        f"http_{answer.status}",
        f"{request.method} {answer.url} answered {answer.status}." + (f" It says: {text[:300]}" if text else ""),
        retryable=answer.status in RETRYABLE_4XX or answer.status >= 500,
        retry_after_s=retry_after(answer.headers, now=time.time()) if answer.status in (429, 503) else None,
        data={"status": answer.status, "url": answer.url, "body": text},
    )


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds, from a number or a date; None where the header is missing or makes no sense. At most a day."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return min(float(value), LONGEST_RETRY_AFTER_S)
    try:
        moment = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError):
        return None
    return min(max(0.0, moment - now), LONGEST_RETRY_AFTER_S)
