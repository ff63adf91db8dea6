"""Identifiers."""

import os
import time
import uuid


def new_id() -> uuid.UUID:
    """A UUID version 7 (RFC 9562): new ones sort after older ones, so that indexes grow at their end."""
    stamp_ms = time.time_ns() // 1_000_000
    value = (stamp_ms & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
