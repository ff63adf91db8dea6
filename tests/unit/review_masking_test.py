"""What a hostile reader found in masking: a checkpoint's key is stored and shown, like its value."""

from types import SimpleNamespace
from typing import Any

from builder.connections.masking import Masker
from runs.core.outcomes import Failed
from runs.runner.attempt import Attempt, Callbacks

PASSWORD = "correct horse/battery"


def test_a_credential_in_a_checkpoints_key_is_never_stored() -> None:
    stored: list[Any] = []
    attempt = object.__new__(Attempt)
    attempt._callbacks = Callbacks(
        lambda *kept: stored.append(kept),
        lambda text: None,
        lambda done, total, text: None,
        lambda *moved: stored.append(moved),
        bool,
    )
    attempt._masker, attempt._result = Masker([PASSWORD]), None
    attempt._child = SimpleNamespace(frames=SimpleNamespace(sendall=lambda data: None))  # type: ignore[assignment]
    attempt._job = SimpleNamespace(step_run_id=1, fence=1)  # type: ignore[assignment]
    attempt._store("once", "page 3", PASSWORD)
    attempt._store("once", f"upload with {PASSWORD}", 1)
    assert PASSWORD not in repr(stored)
    assert len(stored) == 1
    assert attempt._result is not None
    assert isinstance(attempt._result.outcome, Failed)
