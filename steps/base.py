"""What a step kind is: its specification, and what its body gets and gives.

Pure at import: no Django, no database, no network. A body (`run.py`) is imported by name in the child process only.

    StepSpec     what the palette, the validator and the engine know of a kind
    StepContext  what a body may ask of Pawl
    Done | WaitFor | FanOut   what a body may answer; a plain JSON value means Done(value)
    StepFailure  how a body fails on purpose
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

type_json = Any  # a JSON value: None, bool, int, float, str, list or dict with str keys


class StepConfig(BaseModel):
    """Base of every kind's settings. Unknown fields are refused: they are typing mistakes."""

    # an expression may give a number where a text is asked for: a header, a part of an address
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class Delivery(StrEnum):
    """What may happen to the outside when an attempt ends without a committed result."""

    PURE = "pure"  # no outside effect: run again freely
    KEYED = "keyed"  # the outside sees the same idempotency key on every attempt
    AT_MOST_ONCE = "at_most_once"  # never restarted by itself once it may have begun


class Execution(StrEnum):
    """How the engine treats a kind. The engine itself knows no kind by name."""

    BODY = "body"  # runs in the warm child
    COMPUTE = "compute"  # only evaluates expressions; may be settled inside its predecessor's finish
    WAIT = "wait"  # its body answers WaitFor
    CONTAINER = "container"  # its body answers FanOut; holds a body of nodes


@dataclass(frozen=True)
class Port:
    name: str  # 'out', 'true', 'false', a case's name
    title: str = ""


OUT: tuple[Port, ...] = (Port("out"),)
FAILED_PORT = "failed"  # of a container that encloses its body: something in it failed
ERROR_PORT = "error"  # every kind has it when the node's policy says on_error = port


def no_description(config: Mapping[str, Any]) -> str:
    return ""


def any_output(config: Mapping[str, Any]) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class StepSpec:
    kind: str
    title: str
    group: Literal["Flow", "Data", "Code", "Outside", "People", "Files"]
    icon: str  # name of a Tabler icon, without the prefix: 'world-www'
    summary: str  # one sentence, shown in the palette
    config: type[StepConfig]
    delivery: Delivery
    body: str  # 'steps.http_request.run:run'
    execution: Execution = Execution.BODY
    ports: Callable[[Mapping[str, Any]], Sequence[Port]] = lambda config: OUT
    describe: Callable[[Mapping[str, Any]], str] = no_description  # one line on the node: 'GET /batch'
    output_schema: Callable[[Mapping[str, Any]], dict[str, Any]] = (
        any_output  # JSON Schema of the output, as far as known
    )
    has_callback: bool = False  # its body answers WaitFor('callback'), and its link is run.callbacks.<key>
    has_input: bool = True  # False: the node starts a graph (start)
    connection_kinds: tuple[str, ...] = ()  # kinds of connection that field `connection` accepts
    default_limit_s: float = 60.0  # attempt limit where the node's policy names none
    gives: tuple[str, ...] = ("item", "index")  # of a container: the names that expressions inside it know
    asks: tuple[str, ...] = ()  # settings that are read only when the body is asked after a round
    delivery_by: Callable[[Mapping[str, Any]], Delivery] | None = (
        None  # where the settings decide (GET is pure, POST is not)
    )
    acts: bool = False  # every outside effect of the body happens inside ctx.act: none has before the first intent
    acts_by: Callable[[Mapping[str, Any]], bool] | None = None  # where the settings decide whether it acts at all
    set_up: str = ""  # 'my_kind.run:opened': a context manager (config, ctx) around the body, anew on each attempt

    def delivery_of(self, config: Mapping[str, Any]) -> Delivery:
        """The delivery of a node with this raw config. A setting that is an expression counts as the strictest."""
        return self.delivery if self.delivery_by is None else self.delivery_by(config)

    def acts_of(self, config: Mapping[str, Any]) -> bool:
        """Whether, with this raw config, an attempt without an intent has begun nothing."""
        return self.acts if self.acts_by is None else self.acts_by(config)


def literal(**extra: Any) -> dict[str, Any]:
    """`json_schema_extra` of a field whose text is taken as it stands: expressions in it are not evaluated (code)."""
    return {"x-pawl": {"literal": True, **extra}}


def widget(name: str, **extra: Any) -> dict[str, Any]:
    """`json_schema_extra` that names the form widget: code (language=), key-values, ... steps/README.md lists them."""
    return {"x-pawl": {"widget": name, **extra}}


# ------------------------------------------------------------------ what a body answers


@dataclass(frozen=True)
class Done:
    """The step succeeded. `port` names the port that the flow leaves by."""

    output: Any = None
    port: str = "out"


@dataclass(frozen=True)
class WaitFor:
    """The step goes on when something outside happens. It holds no worker meanwhile.

    kind 'timer': succeeds after `seconds` with `output`. kind 'approval': a person answers; `data` is what they see;
    the answer is the output, and leaves by the port that the answer names ('approved' | 'rejected'). kind 'form': a
    person fills in the form of `data` (schema), which is the output. kind 'callback': a program posts to the step's
    link (run.callbacks.<key>), what it sends is the output; what came before counts as well. kind 'child': a run of
    another workflow is started from `data` ({workflow: its id, version: number or null, input}) and ends; what it
    answers is the output.
    """

    kind: Literal["timer", "child", "approval", "form", "callback"]
    seconds: float | None = None  # timer: how long; others: the deadline, None for no deadline
    data: Mapping[str, Any] = field(default_factory=dict)
    output: Any = None


@dataclass(frozen=True)
class FanOut:
    """The container opens one chain of its body for each item, at most `window` at once."""

    items: Sequence[Any]
    window: int = 32
    on_item_failure: Literal["fail_fast", "fail_at_end", "continue"] = "fail_at_end"
    tolerated: int = 0  # so many failed items do not fail the container


@dataclass(frozen=True)
class Rounds:
    """The container runs its body round after round, at most `most` of them. After each one its own body is asked
    again, with the settings that its kind names in `asks`, and answers `Again`.
    """

    first: Any = None  # what `previous` is in the first round; later it is what the round before gave
    most: int = 1
    keep: Literal["last", "all"] = "last"  # the container's output: the last round's, or a list of all


@dataclass(frozen=True)
class Again:
    """What the body of a container with rounds answers after a round: whether another one follows."""

    wanted: bool
    at_most: Literal["fail", "end"] = "fail"  # what it means that another one is wanted and none is left


@dataclass(frozen=True)
class Enclose:
    """The container runs its body once. Where that fails, the flow leaves by FAILED_PORT, with the error as output."""


class StepFailure(Exception):
    """The body's own failure. `retryable` says whether the same attempt may work later."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.data = dict(data or {})


# ------------------------------------------------------------------ what a body may ask


@dataclass(frozen=True)
class PreviousAttempt:
    """How the attempt before this one ended, and what that very attempt had kept."""

    number: int
    outcome: str  # failed | timed_out | lost | cancelled
    error: Mapping[str, Any] | None  # {code, message, data?}
    once: Mapping[str, Any]
    partials: Sequence[Any]
    cursors: Mapping[str, Any]


class Cursor(Protocol):
    """How far a body has come, by name. The next attempt finds the last position that was told."""

    @property
    def value(self) -> Any: ...
    def move(self, value: Any) -> None:
        """Cheap: it waits for nobody. The worker stores the latest position about once a second, and at the attempt's
        end however the body ended. Where the worker itself dies, up to a second of positions is lost.
        """
        ...


class StepContext(Protocol):
    """Given to each body. Every write carries the attempt's fence; a fenced-out attempt's writes are refused."""

    run_id: str
    path: str
    attempt: int
    fence: int
    idempotency_key: str
    storage_root: Path  # the workspace's storage
    outbound_allow: frozenset[str]  # 'host:port' that the outbound guard lets through
    run_input: Any  # what the run was started with
    resource: Any  # what the kind's set_up gave for this attempt; None where it has none

    @property
    def workdir(self) -> Path:
        """An empty folder of this attempt's own, made when it is first asked for and removed after the attempt."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was told to end (cancel, limit, drain). The body's own thread is interrupted then, and
        killed 5 s later: for its threads, and for what it clears up.
        """
        ...

    @property
    def previous(self) -> PreviousAttempt | None:
        """The attempt before this one; None in the first."""
        ...

    def log(self, text: str) -> None: ...
    def progress(self, done: float, total: float | None = None, text: str = "") -> None: ...
    def partial(self, value: Any) -> None:
        """Appends to what is shown as kept partial output; the next attempt reads it in `previous_partials`."""
        ...

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        """The stored value of `key` where an earlier attempt stored one, else function()'s, stored before returning."""
        ...

    def act(self, name: str, function: Callable[[], Any], **detail: Any) -> Any:
        """An outside effect, with its intent stored before and its result after it. Where an earlier attempt on the
        same edition of the input had stored the result, that is answered and nothing happens. An intent without a
        result is *unknown*: `detail` tells people what was about to happen.
        """
        ...

    def cursor(self, name: str = "position", start: Any = None) -> Cursor:
        """The cursor of that name, at the last position of an earlier attempt, or at `start`."""
        ...

    def artifact(self, path: Path | str, name: str | None = None, media_type: str | None = None) -> dict[str, Any]:
        """Keeps a file of `workdir` (a relative path) or of the storage with the step run: {name, media_type, size,
        sha256}. People list and download it. The same name again in this attempt replaces it. Raises StepFailure where
        the file is too large, lies elsewhere or shows a credential.
        """
        ...

    @property
    def previous_partials(self) -> Sequence[Any]: ...
    def connection(self, name: str) -> Mapping[str, Any]:
        """Settings and credentials of a connection that this node names. Raises StepFailure('connection_missing')."""
        ...


Body = Callable[[Any, StepContext], Any]
SetUp = Callable[[Any, StepContext], AbstractContextManager[Any]]
__all__ = [
    "ERROR_PORT", "FAILED_PORT", "OUT", "Again", "Body", "Cursor", "Delivery", "Done", "Enclose", "Execution", "FanOut",
    "Field", "Port", "PreviousAttempt", "Rounds", "SetUp", "StepConfig", "StepContext", "StepFailure", "StepSpec",
    "WaitFor", "literal", "widget",
]  # fmt: skip
