"""Free TCP ports of the loopback interface."""

import random
import socket
from collections.abc import Iterable

LOOPBACK = "127.0.0.1"
# Below the range from which Linux takes the ports of outgoing connections: nobody else picks one of these by chance.
_RANGE = range(20000, 32000)


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Without it, connections that linger after a stop would make our own last port look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(preferred: Iterable[int] = (), *, taken: Iterable[int] = ()) -> int:
    """The first preferred port that is free and not in `taken`, else any other."""
    avoid = set(taken)
    for port in preferred:
        if port not in avoid and is_free(port):
            return port
    for port in random.sample(_RANGE, 200):
        if port not in avoid and is_free(port):
            return port
    raise OSError("No free port between 20000 and 32000: stop some of the programs that listen there.")


def reserve(port: int) -> socket.socket | None:
    """Keeps a port for a program that will listen in a moment; None where another Pawl of this machine keeps it.

    The name lives in the kernel as long as the socket, whatever ends us. Strangers do not look at it.
    """
    keeper = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        keeper.bind(f"\0pawl-port-{port}")
    except OSError:
        keeper.close()
        return None
    return keeper


def accepts(port: int) -> bool:
    """Does something listen?"""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1):
            return True
    except OSError:
        return False
