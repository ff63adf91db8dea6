"""What leaves a child is masked before anybody else sees it: outputs, inputs, errors, checkpoints, progress, logs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

from builder.connections.masking import Masker
from runs.runner.jobs import SECRETS
from runs.runner.messages import (
    Again,
    Crashed,
    Error,
    Failed,
    Fans,
    Outcome,
    Reused,
    Skipped,
    Stopped,
    Succeeded,
    TimedOut,
    Waits,
)


def masker_of(connections: Mapping[str, Mapping[str, Any]]) -> Masker:
    """Falsy where the connections bring no secret."""
    return Masker(secret for settings in connections.values() for secret in settings.get(SECRETS, ()))


def mask_outcome(masker: Masker, outcome: Outcome) -> Outcome:
    value = masker.value
    match outcome:
        case Succeeded():
            return Succeeded(value(outcome.output), outcome.port, value(outcome.input))
        case Waits():
            data, output = value(dict(outcome.data)), value(outcome.output)
            return Waits(outcome.kind, outcome.seconds, data, output, value(outcome.input))
        case Fans():
            items = value(list(outcome.items))
            return replace(outcome, items=items, input=value(outcome.input))
        case Again():
            return replace(outcome, input=value(outcome.input))
        case Failed():
            return Failed(_mask_error(masker, outcome.error), value(outcome.input))
        case Skipped():
            return outcome
        case TimedOut() | Crashed() | Stopped() | Reused():
            return replace(outcome, input=value(outcome.input))
        case _:
            assert_never(outcome)


def _mask_error(masker: Masker, error: Error) -> Error:
    data = masker.value(dict(error.data))
    return Error(masker.text(error.code), masker.text(error.message), error.retryable, error.retry_after_s, data)
