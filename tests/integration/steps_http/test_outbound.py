"""The guarded client against real servers on this machine, which it may reach only by exact host and port."""

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from steps import addresses, outbound
from steps.base import StepFailure
from steps.outbound import Limits, Request, exchange
from tests.integration.steps_http.local_server import Seen, local_server, reply

LIMITS = Limits(timeout_s=5)


def ok(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
    reply(handler, 200, b"hello", Content_Type="text/plain")


def fetch(url: str, *, allow: set[str], limits: Limits = LIMITS, method: str = "GET") -> tuple[int, bytes, str]:
    with exchange(Request(method, url), allow=allow, limits=limits) as answer:
        return answer.status, answer.body.read(), answer.url


def refused(url: str, *, allow: set[str] = frozenset(), limits: Limits = LIMITS) -> StepFailure:  # type: ignore[assignment]
    with pytest.raises(StepFailure) as failure:
        fetch(url, allow=allow, limits=limits)
    return failure.value


def test_a_server_of_this_machine_is_refused_unless_exactly_allowed() -> None:
    with local_server(ok) as server:
        assert refused(server.url()).code == "outbound_refused"
        assert (
            refused(server.url(), allow={f"127.0.0.1:{server.port + 1}", f"localhost:{server.port}"}).code
            == "outbound_refused"
        )
        assert server.seen == []
        assert fetch(server.url(), allow={server.address}) == (200, b"hello", server.url())


@pytest.mark.parametrize("host", ["[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "localhost"])
def test_no_other_way_to_write_this_machine_reaches_it(host: str) -> None:
    with local_server(ok) as server:
        failure = refused(f"http://{host}:{server.port}/", allow={server.address})
        assert failure.code in {"outbound_refused", "name_not_found", "bad_request"}
        assert server.seen == []


def test_each_redirect_is_judged_anew() -> None:
    with local_server(ok) as inner:

        def lead_in(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
            reply(handler, 302, Location=inner.url("/secret"))

        with local_server(lead_in) as outer:
            assert refused(outer.url(), allow={outer.address}).code == "outbound_refused"
            assert inner.seen == []
            assert fetch(outer.url(), allow={outer.address, inner.address})[1:] == (b"hello", inner.url("/secret"))


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "gopher://127.0.0.1/", "http://169.254.169.254/latest/meta-data"]
)
def test_a_redirect_leads_to_no_file_and_no_metadata(target: str) -> None:
    with local_server(lambda handler, seen: reply(handler, 302, Location=target)) as server:
        assert refused(server.url(), allow={server.address}).code in {"outbound_refused", "bad_request"}


def test_redirects_have_an_end() -> None:
    with local_server(lambda handler, seen: reply(handler, 307, Location="/again")) as server:
        assert refused(server.url(), allow={server.address}).code == "too_many_redirects"
        assert len(server.seen) == 6
        assert fetch(server.url(), allow={server.address}, limits=Limits(redirects=0))[0] == 307


def test_a_redirect_to_another_place_carries_no_credential() -> None:
    with local_server(ok) as other:

        def lead_away(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
            reply(handler, 302, Location=other.url("/taken") if seen.path == "/away" else "/away")

        with local_server(lead_away) as api:
            request = Request(
                "GET", api.url("/start"), credentials={"X-Api-Key": "s3cret", "Authorization": "Bearer s3cret"},
                trusted=lambda url: url.startswith(api.url("/")),
            )  # fmt: skip
            with exchange(request, allow={api.address, other.address}, limits=Limits()) as answer:
                assert answer.status == 200
            assert [each.headers.get("x-api-key") for each in api.seen] == ["s3cret", "s3cret"]
            assert [(each.path, each.headers.get("x-api-key")) for each in other.seen] == [("/taken", None)]
            assert "authorization" not in other.seen[0].headers


def test_a_name_that_answers_differently_the_second_time_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: judged as public, then resolved to this machine. We connect to what we judged."""
    asked: list[str] = []
    tried: list[str] = []

    def answer(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(0, 0, 0, "", ("8.8.8.8" if len(asked) == 1 else "127.0.0.1", port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        tried.append(address[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(addresses.socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket, "create_connection", connect)
    failure = refused("http://rebind.example:8080/")
    assert (failure.code, failure.retryable) == ("connection_failed", True)
    assert asked == ["rebind.example"]
    assert tried == ["8.8.8.8"]


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with local_server(ok) as server:
        assert fetch(server.url(), allow={server.address})[0] == 200


def test_a_server_that_sends_a_byte_at_a_time_is_left_at_the_time_limit() -> None:
    def drip(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        with suppress(OSError):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for _ in range(100):
                handler.wfile.write(b"X-Slow: 1\r\n")
                time.sleep(0.05)

    with local_server(drip) as server:
        started = time.monotonic()
        failure = refused(server.url(), allow={server.address}, limits=Limits(timeout_s=0.4))
        assert (failure.code, failure.retryable) == ("timed_out", True)
        assert time.monotonic() - started < 2


def test_an_answer_above_the_limit_is_refused_also_where_it_was_small_when_packed() -> None:
    packed = gzip.compress(b"\0" * 20_000_000)
    with local_server(lambda handler, seen: reply(handler, 200, packed, Content_Encoding="gzip")) as server:
        failure = refused(server.url(), allow={server.address}, limits=Limits(response_bytes=1_000_000))
        assert failure.code == "response_too_large"


def test_a_garbled_answer_is_told_apart_from_a_broken_connection() -> None:
    with local_server(lambda handler, seen: reply(handler, 200, b"no gzip", Content_Encoding="gzip")) as server:
        failure = refused(server.url(), allow={server.address})
        assert (failure.code, failure.retryable) == ("bad_response", False)

    def hang_up(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    with local_server(hang_up) as server:
        failure = refused(server.url(), allow={server.address})
        assert (failure.code, failure.retryable) == ("connection_failed", True)


def test_a_closed_port_may_answer_later() -> None:
    with local_server(ok) as server:
        gone = server.address
    failure = refused(f"http://{gone}/", allow={gone})
    assert (failure.code, failure.retryable) == ("connection_failed", True)


@pytest.mark.parametrize(
    "url",
    ["ftp://example.com/", "http://", "not an address", "http://exa mple.com/", "http://h:99999/", "javascript:1"],
)
def test_what_is_no_address_of_the_web_is_a_bad_request(url: str) -> None:
    failure = refused(url)
    assert failure.code in {"bad_request", "name_not_found"}


# ------------------------------------------------------------------ TLS


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """(server's, client's): a certificate for service.test, and a client that trusts who signed it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "service.test")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("service.test"), x509.IPAddress(ipaddress.ip_address("10.9.9.9"))]
    )
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "service.pem"
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(pem)
    return server, ssl.create_default_context(cafile=str(pem))


def test_tls_still_checks_the_name_although_we_connect_to_a_number(
    certificate: tuple[ssl.SSLContext, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    server_context, client_context = certificate
    named: list[str | None] = []
    server_context.sni_callback = lambda socket, name, context: named.append(name)
    monkeypatch.setattr(outbound, "tls_context", lambda: client_context)
    real = socket.getaddrinfo
    monkeypatch.setattr(
        addresses.socket, "getaddrinfo",
        lambda host, *rest, **more: real("127.0.0.1" if host.endswith(".test") else host, *rest, **more),
    )  # fmt: skip
    with local_server(ok, tls=server_context) as server:
        allow = {f"service.test:{server.port}", f"other.test:{server.port}"}
        assert fetch(f"https://service.test:{server.port}/", allow=allow)[0] == 200
        assert named == ["service.test"]
        failure = refused(f"https://other.test:{server.port}/", allow=allow)
        assert (failure.code, failure.retryable) == ("tls_failed", False)


def test_a_certificate_that_nobody_we_trust_has_signed_is_refused(
    certificate: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    with local_server(ok, tls=certificate[0]) as server:
        assert refused(f"https://127.0.0.1:{server.port}/", allow={server.address}).code == "tls_failed"
