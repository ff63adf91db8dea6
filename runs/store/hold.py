"""Payloads that a transition refers to: uploaded where they are not there, and held until its commit.

Two transitions may refer to the same payloads. Each takes them in the order of their hashes, those that it uploads
among those that are there, after its run's row and before anything of it is written: so nobody waits for somebody who
waits for them.
"""

from collections.abc import Iterable

from runs.core.rows import Stored
from runs.payloads import KEEP_PAYLOAD
from runs.store.read import Connection

# The same that the transition's own statement asks of all of them (runs/store/parts.py).
HOLD = "SELECT pawl_hold_payloads(ARRAY[%s]::bytea[])"


def upload_in_order(connection: Connection, kept: Iterable[Stored]) -> list[bytes]:
    """The hashes of the payloads among these values, in their order. Where one has still to be uploaded, all of them
    are held when this returns; else the transition's statement does it, in the same order.
    """
    wanted: dict[bytes, str | None] = {}
    for value in kept:
        if value.ref is not None:
            wanted[value.ref] = value.body or wanted.get(value.ref)
    ordered = sorted(wanted)
    if any(body is not None for body in wanted.values()):
        for ref in ordered:
            _take(connection, ref, wanted[ref])
    return ordered


def _take(connection: Connection, ref: bytes, body: str | None) -> None:
    if body is None:
        connection.execute(HOLD, (ref,))
    else:
        connection.execute(KEEP_PAYLOAD, (ref, body, len(body)))
