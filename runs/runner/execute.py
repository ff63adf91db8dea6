"""One attempt inside the child: resolve the expressions, check the config, call the body, answer what it gave."""

import math
import signal
import traceback
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType as StackFrame
from typing import Any, NoReturn

from pydantic import ValidationError

from builder import expressions
from kit.errors import AppError
from kit.failpoints import failpoint
from runs.runner import jobs
from runs.runner.context import Context
from runs.runner.jobs import Task
from runs.runner.messages import Error
from runs.runner.values import NotJson, TooLarge, encode, encode_checked
from steps import registry
from steps.base import Again, Done, Enclose, FanOut, Rounds, StepConfig, StepFailure, StepSpec, WaitFor

EXPRESSION_LIMIT_S = 2.0  # of this process's own time: a machine that stood still does not make an expression fail
EXPRESSION_KILL_S = (
    2.5  # for C code that never comes back to the interpreter; the worker knows this death by its signal
)
MESSAGE_CHARS = 4000
TRACEBACK_CHARS = 8000
SHOWN_FIELDS = 20
CODE_CHARS = 100
DATA_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Execution:
    result: str  # JSON, see jobs.pack_*
    retire: str | None = None


class _Refused(Exception):
    """The attempt fails before its body begins, or because of what its body answered."""

    def __init__(self, code: str, message: str, **data: Any) -> None:
        super().__init__(message)
        self.error = Error(code, message, data=data)


class _TooSlow(BaseException):
    """Not an Exception, so that nothing in a template catches it."""


def execute(task: Task, context: Context) -> Execution:
    try:
        config = task.config
        if task.skip_if is not None and _is_left_out(task, task.skip_if):
            return Execution(jobs.pack_skipped())
        if task.has_expressions:
            config = _resolve(task, config, literal_fields=registry.literal_fields(task.kind))
        if config is not task.config:  # told before anything else happens: an attempt that is killed shows it as well
            context.tell_input(_encode(config, name="config", limit_bytes=task.output_limit_bytes))
        spec = registry.get(task.kind)
        settings = _validate(spec, config)
        if task.asks_reuse and context.may_reuse():
            return Execution(jobs.REUSED)
        given = _call(spec, settings, context)
        return Execution(_pack(given, spec=spec, config=config, limit_bytes=task.output_limit_bytes))
    except BaseException as problem:  # noqa: BLE001 - SystemExit of a body is the step's failure, never the child's end
        retire = "it ran out of memory" if isinstance(problem, MemoryError) else None
        return Execution(_pack_failed(_error_of(problem)), retire)


def _call(spec: StepSpec, settings: StepConfig, context: Context) -> Any:
    """The body, inside what its kind sets up for each attempt (a browser, a session)."""
    body = _load(spec.kind, registry.load_body)
    set_up = _load(spec.kind, registry.load_set_up) if spec.set_up else None
    failpoint("before_body")
    with ExitStack() as standing:
        if set_up is not None:
            context.resource = standing.enter_context(set_up(settings, context))
        given = body(settings, context)
    failpoint("after_body")
    return given


# ------------------------------------------------------------------ before the body


def _is_left_out(task: Task, text: str) -> bool:
    """What the policy's skip_if says, by the same rules and within the same time as the settings."""
    said = _resolve(task, {"skip_if": text}, literal_fields=())["skip_if"]
    if isinstance(said, bool):
        return said
    message = f"What leaves the step out (skip_if) must give true or false, and gave {type(said).__name__}."
    raise _Refused("skip_if_not_boolean", message)


def _resolve(task: Task, config: dict[str, Any], *, literal_fields: Collection[str]) -> dict[str, Any]:
    try:
        return _resolve_in_time(task, config, literal_fields=literal_fields)
    except _TooSlow:
        message = f"The expressions of this step took more than {EXPRESSION_LIMIT_S:g} s. Shorten their loops."
        raise _Refused("expression_timeout", message) from None
    except MemoryError:
        raise _Refused(
            "expression_too_large", "The expressions of this step make more than the memory can hold."
        ) from None


def _resolve_in_time(task: Task, config: dict[str, Any], *, literal_fields: Collection[str]) -> dict[str, Any]:
    """Two clocks of used time: one raises, the other ends the process where C code lets no handler run."""
    signal.signal(signal.SIGVTALRM, _on_slow)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, EXPRESSION_KILL_S)
    signal.setitimer(signal.ITIMER_VIRTUAL, EXPRESSION_LIMIT_S)
    try:
        return expressions.resolve(config, task.scope, literal_fields=literal_fields)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _on_slow(number: int, frame: StackFrame | None) -> NoReturn:
    raise _TooSlow


def _validate(spec: StepSpec, config: dict[str, Any]) -> StepConfig:
    try:
        return spec.config.model_validate(config)
    except ValidationError as problem:
        # Without the values: a resolved config may hold what nobody should read in an error.
        found = problem.errors(include_url=False, include_context=False, include_input=False)[:SHOWN_FIELDS]
        fields = [{"field": ".".join(str(part) for part in each["loc"]), "message": each["msg"]} for each in found]
        told = "; ".join(f"{each['field'] or 'config'}: {each['message']}" for each in fields)
        raise _Refused("bad_config", f"The settings of this step are wrong: {told}", fields=fields) from problem


def _load(kind: str, load: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
    try:
        return load(kind)
    except (ImportError, AttributeError) as problem:
        message = f"The body of step kind '{kind}' cannot be loaded on this worker: {problem}"
        raise _Refused("body_not_loaded", message, kind=kind) from problem


# ------------------------------------------------------------------ after the body


def _pack(given: Any, *, spec: StepSpec, config: dict[str, Any], limit_bytes: int) -> str:
    match given:
        case Done():
            if given.port != "out":
                _check_port(given.port, spec=spec, config=config)
            text = _encode(given.output, name="output", limit_bytes=limit_bytes)
            return jobs.pack_succeeded(text, port=given.port)
        case WaitFor():
            return _pack_waits(given, limit_bytes=limit_bytes)
        case FanOut():
            text = _encode(list(given.items), name="items", limit_bytes=limit_bytes)
            return jobs.pack_fans(
                text,
                window=int(given.window),
                on_item_failure=given.on_item_failure,
                tolerated=int(given.tolerated),
            )
        case Rounds():
            first = _encode(given.first, name="first value", limit_bytes=limit_bytes)
            return jobs.pack_rounds(first, most=max(1, int(given.most)), keep=given.keep)
        case Again():
            return jobs.pack_again(bool(given.wanted), at_most=given.at_most)
        case Enclose():
            return jobs.pack_encloses()
        case _:
            return jobs.pack_succeeded(_encode(given, name="output", limit_bytes=limit_bytes), port="out")


def _pack_waits(given: WaitFor, *, limit_bytes: int) -> str:
    if given.seconds is not None and not (math.isfinite(given.seconds) and given.seconds >= 0):
        raise _Refused("bad_wait", f"A wait of {given.seconds} s is not possible.")
    return jobs.pack_waits(
        given.kind,
        seconds=given.seconds,
        data_text=_encode(dict(given.data), name="data", limit_bytes=limit_bytes),
        output_text=_encode(given.output, name="output", limit_bytes=limit_bytes),
    )


def _check_port(port: str, *, spec: StepSpec, config: dict[str, Any]) -> None:
    names = [each.name for each in spec.ports(config)]
    if port not in names:
        raise _Refused(
            "bad_port", f"The body answered by port '{port}'. Step kind '{spec.kind}' has {', '.join(names)}."
        )


def _encode(value: Any, *, name: str, limit_bytes: int) -> str:
    try:
        return encode_checked(value, name=name, limit_bytes=limit_bytes)
    except NotJson as problem:
        raise _Refused("not_json", f"{problem}. A step gives JSON values only.", path=problem.path) from problem
    except TooLarge as problem:
        message = (
            f"The {name} has {problem.size_bytes:,} bytes of JSON; the limit is {problem.limit_bytes:,}. "
            "Write it to a file of the workspace's storage and give its name on, or split the work with a map."
        )
        code = "input_too_large" if name == "config" else "output_too_large"
        data = {"size_bytes": problem.size_bytes, "limit_bytes": problem.limit_bytes}
        raise _Refused(code, message, **data) from problem


# ------------------------------------------------------------------ failures


def _error_of(problem: BaseException) -> Error:
    match problem:
        case _Refused():
            return problem.error
        case StepFailure():
            return Error(
                problem.code,
                problem.message,
                retryable=problem.retryable,
                retry_after_s=problem.retry_after_s,
                data=problem.data,
            )
        case AppError():
            return Error(problem.code, problem.message, data=problem.data)
        case MemoryError():
            return Error("out_of_memory", "The step needed more memory than a step may have.", retryable=True)
        case _:
            return _error_of_raised(problem)


def _error_of_raised(problem: BaseException) -> Error:
    name = type(problem).__name__
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 - a __str__ that is broken as well
        text = "(its text cannot be read)"
    own = problem.__traceback__
    while own is not None and own.tb_frame.f_code.co_filename == __file__:  # without our own calls of it
        own = own.tb_next
    lines = "".join(traceback.format_exception(problem.with_traceback(own)))
    data = {"type": name, "traceback": lines[-TRACEBACK_CHARS:]}
    return Error("body_raised", f"{name}: {text}" if text else name, retryable=True, data=data)


def told_within(text: str, characters: int) -> str:
    """The text; of one that is longer its beginning, which says that it was cut and how long it was."""
    if len(text) <= characters:
        return text
    mark = f"… (cut: it has {len(text):,} characters)"
    return text[: characters - len(mark)] + mark


def _pack_failed(error: Error) -> str:
    try:
        data_text = encode_checked(dict(error.data), name="data", limit_bytes=DATA_BYTES)
        retry_after = None if error.retry_after_s is None else max(0.0, float(error.retry_after_s))
        retry_text = encode(retry_after)
    except (NotJson, TooLarge, TypeError, ValueError):
        data_text, retry_text = "{}", "null"  # the failure itself matters more than its details
    return jobs.pack_failed(
        str(error.code)[:CODE_CHARS],
        told_within(str(error.message), MESSAGE_CHARS),
        retryable=bool(error.retryable),
        retry_after_text=retry_text,
        data_text=data_text,
    )
