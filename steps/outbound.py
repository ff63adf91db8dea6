"""The guarded HTTP client: connects to judged addresses only, follows a redirect only after judging it anew, reads no
proxy from the environment, and holds bounds on time and size. steps/addresses.py says how addresses are judged.

    with exchange(Request("GET", "https://api.example.com"), allow=ctx.outbound_allow, limits=Limits()) as answer:
        answer.status, answer.headers, answer.body   (an open temporary file)
"""

import re
import ssl
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import httpcore
import httpx

from steps.addresses import check_address
from steps.base import StepFailure
from steps.tls import tls_context

IN_MEMORY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 30.0  # for the whole exchange, redirects included
    response_bytes: int = 8 * 1024 * 1024  # after decompression
    redirects: int = 5  # 0: a redirect is an answer like any other


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | Iterable[bytes] | None = None
    credentials: Mapping[str, str] = field(default_factory=dict)  # headers sent only where `trusted` says yes
    trusted: Callable[[str], bool] = lambda url: False


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    url: str  # after redirects
    body: IO[bytes]
    size: int


@contextmanager
def exchange(request: Request, *, allow: Collection[str], limits: Limits) -> Iterator[Answer]:
    """Sends, follows redirects, and reads the whole answer.

    Raises StepFailure: outbound_refused, name_not_found, connection_failed, timed_out, tls_failed,
    bad_request, bad_response, response_too_large, too_many_redirects.
    """
    deadline = time.monotonic() + limits.timeout_s
    transport = _Transport(allow=allow, deadline=deadline)
    with (
        httpx.Client(transport=transport, trust_env=False, timeout=limits.timeout_s) as client,
        tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as body,
    ):
        with _as_failures(request, limits):
            response = _follow(client, request, limits=limits)
            try:
                size = _read(response, body, limits=limits)
            finally:
                response.close()
        yield Answer(response.status_code, dict(response.headers), str(response.url), body, size)


def _follow(client: httpx.Client, request: Request, *, limits: Limits) -> httpx.Response:
    outgoing = client.build_request(request.method, request.url, headers=dict(request.headers), content=request.content)
    for _ in range(limits.redirects + 1):
        _give_credentials(outgoing, request)
        response = client.send(outgoing, stream=True)
        if response.next_request is None or limits.redirects == 0:
            return response
        outgoing = response.next_request
        response.close()
    raise StepFailure(
        "too_many_redirects", f"{request.url} redirects more than {limits.redirects} times.", data={"url": request.url}
    )


def _give_credentials(outgoing: httpx.Request, request: Request) -> None:
    """Decided for each hop: a redirect to another place must not carry a credential there."""
    trusted = request.trusted(str(outgoing.url))
    for name, value in request.credentials.items():
        if trusted:
            outgoing.headers[name] = value
        elif outgoing.headers.get(name) == value:  # httpx itself forgets only Authorization on the way elsewhere
            del outgoing.headers[name]


def _read(response: httpx.Response, body: Any, *, limits: Limits) -> int:
    size = 0
    for chunk in response.iter_bytes(64 * 1024):
        size += len(chunk)
        if size > limits.response_bytes:
            raise StepFailure(
                "response_too_large",
                f"The answer of {response.url.host} is larger than {limits.response_bytes / 1024 / 1024:g} MB. "
                "Raise the step's size limit or ask for less.",
            )
        body.write(chunk)
    body.seek(0)
    return size


@contextmanager
def _as_failures(request: Request, limits: Limits) -> Iterator[None]:
    """httpx's errors in our words. What may work later is retryable; what is wrong in the request is not."""
    data = {"method": request.method, "url": request.url}
    try:
        yield
    except httpx.TimeoutException as problem:
        message = f"{request.method} {request.url} took longer than {limits.timeout_s:g} s."
        raise StepFailure("timed_out", message, retryable=True, data=data) from problem
    except httpx.LocalProtocolError as problem:
        # it shows a header as Python writes bytes, and so a credential in a form that no masking knows
        told = re.sub(r" b['\"].*", "", str(problem), flags=re.DOTALL)
        message = f"{request.method} '{request.url}' is no request that can be sent: {told}"
        raise StepFailure("bad_request", message, data=data) from problem
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError, TypeError) as problem:
        message = f"{request.method} '{request.url}' is no request that can be sent: {problem}"
        raise StepFailure("bad_request", message, data=data) from problem
    except httpx.DecodingError as problem:
        raise StepFailure("bad_response", f"The answer of {request.url} is garbled: {problem}", data=data) from problem
    except httpx.TransportError as problem:
        if _is_certificate(problem):
            message = f"The certificate of {request.url} cannot be trusted: {problem}"
            raise StepFailure("tls_failed", message, data=data) from problem
        message = f"{request.method} {request.url} failed on the way: {str(problem) or type(problem).__name__}"
        raise StepFailure("connection_failed", message, retryable=True, data=data) from problem


def _is_certificate(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, ssl.SSLCertVerificationError):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


class _Transport(httpx.HTTPTransport):
    """httpx's own, over a pool whose connections our backend makes. TLS still checks the name of the address."""

    def __init__(self, *, allow: Collection[str], deadline: float) -> None:
        super().__init__(verify=tls_context(), trust_env=False)
        # httpx offers no door for a network backend; the pool is what its constructor would have made
        self._pool = httpcore.ConnectionPool(ssl_context=tls_context(), network_backend=_Backend(allow, deadline))


class _Backend(httpcore.NetworkBackend):
    def __init__(self, allow: Collection[str], deadline: float) -> None:
        self._allow = allow
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(  # noqa: PLR0917  # httpcore's own signature
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        last: httpcore.ConnectError | None = None
        for address in check_address(host, port, allow=self._allow):
            try:
                remaining = _remaining(self._deadline, timeout, httpcore.ConnectTimeout)
                return _Stream(self._inner.connect_tcp(address, port, timeout=remaining), self._deadline)
            except httpcore.ConnectError as problem:
                last = problem
        raise last or httpcore.ConnectError(f"{host} has no address")

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.ConnectError("unix sockets are not on the internet")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _remaining(deadline: float, timeout: float | None, late: type[Exception]) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise late("the time limit of the whole exchange has passed")
    return left if timeout is None else min(left, timeout)


class _Stream(httpcore.NetworkStream):
    """Every read and write ends at the exchange's deadline; else a server that sends a byte a second holds us."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _remaining(self._deadline, timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _remaining(self._deadline, timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        remaining = _remaining(self._deadline, timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, remaining), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
