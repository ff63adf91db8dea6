import ipaddress
import socket
from collections.abc import Callable

import pytest

from steps import addresses
from steps.base import StepFailure

Resolve = Callable[..., None]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """The name server: names(host, address, ...) says what it answers."""
    known: dict[str, tuple[str, ...]] = {}

    def answer(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(0, 0, 0, "", (address, port)) for address in known[host]]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", answer)
    return lambda host, *found: known.update({host: found})


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.255.0.3", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "203.0.113.5", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "192.88.99.1",
        "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "100::1", "2001::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
        "2002:7f00:1::", "2002:a9fe:a9fe::1", "5f00::1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_public_internet_is_not_public(text: str) -> None:
    assert not addresses.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text",
    ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450::1", "64:ff9b::101:101", "::ffff:8.8.8.8"],
)
def test_an_address_of_the_public_internet_is_public(text: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(text))


def test_one_bad_address_among_good_ones_refuses_the_name(names: Resolve) -> None:
    names("api.example.com", "8.8.8.8", "127.0.0.1")
    with pytest.raises(StepFailure) as failure:
        addresses.check_address("api.example.com", 443, allow=())
    assert failure.value.code == "outbound_refused"
    assert failure.value.retryable is False


def test_a_public_name_gives_its_addresses_once_each(names: Resolve) -> None:
    names("api.example.com", "8.8.8.8", "2606:4700::1111", "8.8.8.8")
    assert addresses.check_address("api.example.com", 443, allow=()) == ("8.8.8.8", "2606:4700::1111")


def test_an_address_with_a_zone_is_judged_without_it(names: Resolve) -> None:
    names("printer", "fe80::1%eth0")
    with pytest.raises(StepFailure, match="not on the public internet"):
        addresses.check_address("printer", 80, allow=())


@pytest.mark.parametrize("written", ["127.1", "2130706433", "0x7f.1", "0177.0.0.1", "localhost", "[::1]", "127.0.0.1"])
def test_other_ways_to_write_this_machine_are_refused(written: str) -> None:
    with pytest.raises(StepFailure) as failure:
        addresses.check_address(written, 80, allow=())
    assert failure.value.code in {"outbound_refused", "name_not_found"}


def test_an_exception_holds_for_this_host_and_port_only(names: Resolve) -> None:
    names("mail.internal", "10.0.0.5")
    allow = {"Mail.Internal:25"}
    assert addresses.check_address("mail.internal", 25, allow=allow) == ("10.0.0.5",)
    for host, port in (("mail.internal", 26), ("10.0.0.5", 25)):
        names("10.0.0.5", "10.0.0.5")
        with pytest.raises(StepFailure) as failure:
            addresses.check_address(host, port, allow=allow)
        assert failure.value.code == "outbound_refused"


@pytest.mark.parametrize(
    ("host", "port", "name"),
    [("API.Example.com.", 443, "api.example.com:443"), ("[::1]", 80, "[::1]:80"), ("::1", 80, "[::1]:80")],
)
def test_a_host_and_port_is_written_in_one_way(host: str, port: int, name: str) -> None:
    assert addresses.name_of(host, port) == name


def test_a_name_without_an_address_may_have_one_later(names: Resolve) -> None:
    with pytest.raises(StepFailure) as failure:
        addresses.check_address("nowhere.example", 80, allow=())
    assert (failure.value.code, failure.value.retryable) == ("name_not_found", True)


def test_the_connection_goes_to_the_address_that_was_judged(names: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers a second question differently gains nothing: there is no second question."""
    names("api.example.com", "8.8.8.8", "1.1.1.1")
    tried: list[tuple[str, int]] = []

    def refuse(address: tuple[str, int], timeout: float) -> None:
        names("api.example.com", "127.0.0.1")
        tried.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(addresses.socket, "create_connection", refuse)
    with pytest.raises(StepFailure) as failure:
        addresses.connect("api.example.com", 587, allow=(), timeout_s=1)
    assert tried == [("8.8.8.8", 587), ("1.1.1.1", 587)]
    assert (failure.value.code, failure.value.retryable) == ("connection_failed", True)
