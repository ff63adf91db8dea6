"""A job and an outcome as JSON texts, both directions. Lists, not objects: names would cost more than the values."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from runs.runner.messages import Again, Error, Failed, Fans, Job, Outcome, Skipped, Succeeded, Waits
from runs.runner.values import decode, encode

SECRETS = "_secrets"  # in a connection's settings: the texts to mask; never shown to the body


class Task(NamedTuple):
    """A job as the child sees it."""

    run_id: str
    path: str
    attempt: int
    kind: str
    config: dict[str, Any]
    scope: dict[str, Any]
    idempotency_key: str
    storage_root: str
    outbound_allow: list[str]
    connections: dict[str, dict[str, Any]]
    checkpoints: list[tuple[str, str, Any, int]]  # key, kind, value, attempt
    previous: tuple[int, str, dict[str, Any] | None] | None  # number, outcome, error
    output_limit_bytes: int
    artifact_root: str
    artifact_limit_bytes: int
    skip_if: str | None
    asks_reuse: bool
    has_expressions: (
        bool  # JSON itself never has such a pair of signs; a text elsewhere in the job may, and costs little
    )


def pack_job(job: Job) -> str:
    return encode(
        (
            job.run_id,
            job.path,
            job.attempt,
            job.kind,
            job.config,
            job.scope,
            job.idempotency_key,
            job.storage_root,
            tuple(job.outbound_allow),
            {name: _without_secrets(settings) for name, settings in job.connections.items()},
            [(kept.key, kept.kind, kept.value, kept.attempt) for kept in job.checkpoints],
            job.previous and (job.previous.number, job.previous.outcome, _or_none(job.previous.error)),
            job.output_limit_bytes,
            job.artifact_root,
            job.artifact_limit_bytes,
            job.skip_if,
            job.asks_reuse,
            job.is_resolved,
        )
    )


def _without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != SECRETS}


def _or_none(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else dict(value)


def has_expressions(text: str) -> bool:
    return "{{" in text or "{%" in text or "{#" in text


def unpack_job(text: str) -> Task:
    parts: list[Any] = decode(text)
    is_resolved = parts.pop()
    parts.append(not is_resolved and has_expressions(text))
    return Task(*parts)


class Answer(NamedTuple):
    """What a child answers: `result` is the outcome as pack_* wrote it; `retire` says why the child must not go on."""

    retire: str | None
    result: list[Any]


def pack_answer(result: str, *, retire: str | None) -> str:
    """`result` is the JSON of one of the lists below."""
    return f"[{encode(retire)},{result}]"


def pack_succeeded(output_text: str, *, port: str) -> str:
    return f'["succeeded",{output_text},{encode(port)}]'


def pack_skipped() -> str:
    return '["skipped"]'


REUSED = '["reused"]'  # the worker had one, and knows it


def pack_waits(kind: str, *, seconds: float | None, data_text: str, output_text: str) -> str:
    return f'["waits",{encode(kind)},{encode(seconds)},{data_text},{output_text}]'


def pack_fans(items_text: str, *, window: int, on_item_failure: str, tolerated: int) -> str:
    return f'["fans",{items_text},{window},{encode(on_item_failure)},{tolerated}]'


def pack_rounds(first_text: str, *, most: int, keep: str) -> str:
    return f'["rounds",{first_text},{most},{encode(keep)}]'


def pack_again(wanted: bool, *, at_most: str) -> str:
    return f'["again",{encode(wanted)},{encode(at_most)}]'


def pack_encloses() -> str:
    return '["encloses"]'


def pack_failed(code: str, message: str, *, retryable: bool, retry_after_text: str, data_text: str) -> str:
    flag = "true" if retryable else "false"
    return f'["failed",{encode(code)},{encode(message)},{flag},{retry_after_text},{data_text}]'


def unpack_answer(text: str) -> Answer:
    return Answer(*decode(text))


def outcome_of(result: Sequence[Any], *, resolved: Any) -> Outcome:
    """Raises ValueError (also for a wrong number of parts) where no child of ours can have written this."""
    match result:
        case ["succeeded", output, port]:
            return Succeeded(output, port, resolved)
        case ["skipped"]:
            return Skipped()
        case ["waits", kind, seconds, data, output]:
            return Waits(kind, seconds, data, output, resolved)
        case ["fans", items, window, on_item_failure, tolerated]:
            return Fans(items, window, on_item_failure, resolved, tolerated=tolerated)
        case ["rounds", first, most, keep]:
            gather = "last" if keep == "last" else "list"
            return Fans([first], 1, "fail_at_end", resolved, mode="rounds", most=most, gather=gather)
        case ["again", wanted, at_most]:
            return Again(wanted, at_most, resolved)
        case ["encloses"]:
            return Fans([None], 1, "fail_at_end", resolved, mode="once", gather="last")
        case ["failed", code, message, retryable, retry_after_s, data]:
            return Failed(Error(code, message, retryable, retry_after_s, data), resolved)
        case _:
            raise ValueError("an outcome of no known form")
