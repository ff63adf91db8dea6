"""The idempotency key that a step shows to the outside."""

import hashlib
from uuid import UUID


def idempotency_key(run_id: UUID, path: str, edition: int) -> str:
    """32 hex digits: the same for all attempts and resumes of a step on the same edition of its input (promise P2).

    `run_id` is the run's own, or that of the run whose effects a fork repeats (its `key_root`).
    """
    return hashlib.sha256(f"{run_id}/{path}/{edition}".encode()).hexdigest()[:32]
