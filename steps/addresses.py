"""Which addresses a step may connect to: the public internet, and what the operator allows by exact host and port.

A name is resolved once, every address that it has is judged, and the connection is made to a judged address: a name
that answers differently the second time gains nothing. Used by http_request, email and sql.
"""

import ipaddress
import socket
from collections.abc import Collection
from typing import Final

from steps.base import StepFailure

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Public by number to ipaddress, yet a machine's own: Azure's and Oracle's metadata, relays of 6to4, carriers' networks.
FORBIDDEN_V4: Final = tuple(
    map(ipaddress.IPv4Network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10"))
)
NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
FORBIDDEN_V6: Final = tuple(
    map(
        ipaddress.IPv6Network,
        ("64:ff9b:1::/48", "2001::/23", "fc00::/7", "fec0::/10", "100::/64", "5f00::/16", "::/96"),
    )
)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, whatever it is wrapped in."""
    if isinstance(address, ipaddress.IPv4Address):
        return _is_ordinary(address) and not any(address in network for network in FORBIDDEN_V4)
    inner = _wrapped(address)
    if inner is not None:
        return is_public(inner)
    return _is_ordinary(address) and not any(address in network for network in FORBIDDEN_V6)


def _is_ordinary(address: Address) -> bool:
    odd = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    return address.is_global and not odd


def _wrapped(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a mapped (::ffff:a.b.c.d), NAT64 (64:ff9b::) or 6to4 (2002::) address leads to."""
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def name_of(host: str, port: int) -> str:
    """'host:port' as the operator's list of exceptions writes it."""
    bare = host.strip("[]").rstrip(".").lower()
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def check_address(host: str, port: int, *, allow: Collection[str]) -> tuple[str, ...]:
    """The numeric addresses to connect to, best first.

    Raises StepFailure: 'outbound_refused' where one of them is not public and the operator has not allowed host:port,
    'name_not_found' (retryable) where there is none.
    """
    addresses = _resolve(host, port)
    if name_of(host, port) in {each.lower() for each in allow}:
        return addresses
    for text in addresses:
        if not is_public(ipaddress.ip_address(text.partition("%")[0])):
            raise StepFailure(
                "outbound_refused",
                f"{name_of(host, port)} is not on the public internet, so Pawl does not connect to it. "
                "If it is meant to be reached, whoever runs Pawl can allow this exact host and port.",
                data={"host": host, "port": port},
            )
    return addresses


def _resolve(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise StepFailure(
            "name_not_found", f"The name '{host}' has no address: {problem}.", retryable=isinstance(problem, OSError)
        ) from problem
    return tuple(dict.fromkeys(str(info[4][0]) for info in found))


def connect(host: str, port: int, *, allow: Collection[str], timeout_s: float) -> socket.socket:
    """A TCP connection to a judged address. Raises what check_address raises, or 'connection_failed' (retryable)."""
    last: OSError | None = None
    for address in check_address(host, port, allow=allow):
        try:
            return socket.create_connection((address, port), timeout=timeout_s)
        except OSError as problem:
            last = problem
    raise StepFailure("connection_failed", f"{name_of(host, port)} does not answer: {last}.", retryable=True) from last
