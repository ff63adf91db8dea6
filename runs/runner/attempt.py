"""One attempt, seen from the worker: a job goes to the child, frames and log come back, limits are kept.

The thread sleeps in one poll(); the clock is monotonic; nothing here depends on the body's good will.
"""

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from builder.connections.masking import Masker
from kit.clock import monotonic_s
from runs.runner.context import INCOMING
from runs.runner.frames import Frame, FrameReader, FrameType, ProtocolError, pack
from runs.runner.jobs import has_expressions, outcome_of, pack_job, unpack_answer
from runs.runner.logs import DRAIN_EVERY_S, LogPipe
from runs.runner.masks import mask_outcome
from runs.runner.messages import Crashed, Error, Failed, Job, Outcome, Reused, Stopped, TimedOut
from runs.runner.spawner import ChildProcess, is_readable
from runs.runner.staging import shows_secret
from runs.runner.values import decode, encode

GRACE_S = 5.0  # between TERM and KILL
POLL_S = 0.25  # how often `should_stop` is asked at least
EXIT_NEWS_S = 2.0
LAST_WORDS_S = 0.2
FRAME_SLACK_BYTES = 256 * 1024
MOST_BYTES_A_CHAR = 3  # an escape in ASCII takes at most three times the bytes that its character has in UTF-8


class Callbacks(NamedTuple):
    """The worker's ears. An exception in one of them ends the child, and comes out of the attempt."""

    on_checkpoint: Callable[[str, str, Any], Any]
    on_log: Callable[[str], None]
    on_progress: Callable[[float, float | None, str], None]
    on_cursor: Callable[[str, Any], None]
    should_stop: Callable[[], bool]
    on_ask: Callable[[Any], Reused | None] = lambda _: None


class Result(NamedTuple):
    outcome: Outcome
    retire: str | None  # why the child must not serve again


class NeverBegan(Exception):
    """The child was gone before it could take the job: nothing of it ran."""


class Attempt:
    def __init__(self, child: ChildProcess, job: Job, callbacks: Callbacks, *, masker: Masker) -> None:
        self._child = child
        self._job = job
        self._callbacks = callbacks
        self._masker = masker
        self._log = LogPipe(child.log, limit_bytes=job.log_limit_bytes, masker=masker, on_log=callbacks.on_log)
        limit_bytes = job.output_limit_bytes * MOST_BYTES_A_CHAR * 2 + FRAME_SLACK_BYTES  # output and resolved input
        self._reader = FrameReader(child.frames, limit_bytes=limit_bytes)
        self._ending: Outcome | None = None  # what the attempt is taken for, since the child was told to end
        self._kill_at = 0.0
        self._asked_at = 0.0
        self._input_text: str | None = None  # the resolved config, as the child told it before its body began
        self._reused: Reused | None = None
        self._result: Result | None = None

    def run(self) -> Result:
        """Raises NeverBegan, and what a callback raises; the child is then not to be used again."""
        self._asked_at = self._heard_at = began = monotonic_s()
        self._limit_at, self._limit = self._first_limit(began)
        self._send_job()
        poll, timeout_s = self._child.poller.poll, min(POLL_S, self._limit_at - began)
        while self._result is None:
            for descriptor, _ in poll(max(0.0, timeout_s * 1000)):
                self._handle(descriptor)
            if self._result is None:
                timeout_s = self._look_at_clock()
        self._log.finish()
        if self._log.is_full:
            self._child.poller.register(self._child.log, select.POLLIN)
        outcome = self._result.outcome
        if isinstance(outcome, TimedOut | Crashed | Stopped):
            outcome = replace(outcome, input=self._resolved())
        return Result(mask_outcome(self._masker, outcome) if self._masker else outcome, self._result.retire)

    def _first_limit(self, began: float) -> tuple[float, TimedOut]:
        """When the attempt must have ended, and what it then is: its own limit, or that of all attempts together."""
        job = self._job
        if job.total_limit_s is not None and job.total_left_s is not None and job.total_left_s < job.limit_s:
            return began + max(0.0, job.total_left_s), TimedOut(job.total_limit_s, "total_limit")
        return began + job.limit_s, TimedOut(job.limit_s)

    def _settle(self, outcome: Outcome, retire: str | None) -> None:
        if self._result is None:
            self._result = Result(outcome, retire)

    # ------------------------------------------------------------------ what goes and comes

    def _send_job(self) -> None:
        text = pack_job(self._job)
        try:
            self._send(FrameType.JOB, text)
        except (BrokenPipeError, ConnectionResetError) as problem:
            raise NeverBegan from problem
        except BlockingIOError:  # SO_SNDTIMEO: the child is frozen; the job is not whole, so it cannot begin
            raise NeverBegan from None

    def _send(self, type_: FrameType, text: str) -> None:
        self._child.frames.sendall(pack(type_, text, step_run_id=self._job.step_run_id, fence=self._job.fence))

    def _handle(self, descriptor: int) -> None:
        child = self._child
        self._heard_at = monotonic_s() if descriptor in (child.frames_fd, child.log) else self._heard_at
        if descriptor == child.frames_fd:
            self._read_frames()
        elif descriptor == child.log:
            self._log.read(monotonic_s())
            if self._log.is_full:  # from now on the clock drains it
                child.poller.unregister(child.log)
        elif descriptor == child.ward_fd:
            self._take_end()
        else:
            os.eventfd_read(descriptor)
            self._asked_at = 0.0

    def _read_frames(self) -> None:
        try:
            frame = self._reader.read()
            while frame is not None and self._result is None:
                self._take(frame)
                frame = self._reader.next()
        except ConnectionError:
            self._reader.closed = True
        except ProtocolError as problem:
            self._settle(Crashed(f"the child broke its protocol: {problem}"), "it broke its protocol")
        if self._reader.closed:
            self._wait_for_end()

    def _take(self, frame: Frame) -> None:
        job = self._job
        if frame.step_run_id != job.step_run_id or frame.fence != job.fence:
            raise ProtocolError(f"a frame of step run {frame.step_run_id} with fence {frame.fence}")
        if self._ending is not None:
            return  # told to end: whatever it still says comes too late
        act = self._understand(frame)
        act()

    def _understand(self, frame: Frame) -> Callable[[], None]:
        """What is to be done, apart from doing it: a callback's ValueError is not the child's fault."""
        try:
            match frame.type:
                case FrameType.OUTCOME:
                    return self._outcome(frame.text)
                case FrameType.CHECKPOINT:
                    kind, key, value = decode(frame.text)
                    return lambda: self._store(kind, key, value)
                case FrameType.INPUT:
                    self._input_text = frame.text
                    return lambda: None
                case FrameType.ASK:
                    resolved = self._told_input()
                    return lambda: self._look_for_result(resolved)
                case FrameType.CURSOR:
                    name, position = decode(frame.text)
                    return lambda: self._move(name, position)
                case FrameType.PROGRESS:
                    done, total, text = decode(frame.text)
                    return lambda: self._callbacks.on_progress(done, total, self._masker.text(text))
                case _:
                    raise ProtocolError(f"{frame.type.name} from a child")
        except (ValueError, TypeError) as problem:
            raise ProtocolError(f"{frame.type.name} that cannot be read: {problem}") from problem

    def _outcome(self, text: str) -> Callable[[], None]:
        answer = unpack_answer(text)
        resolved = self._told_input()
        if self._reused is not None and answer.result == ["reused"]:
            outcome: Outcome = replace(self._reused, input=resolved)
        else:
            outcome = outcome_of(answer.result, resolved=resolved)
        return lambda: self._settle(outcome, answer.retire)

    def _told_input(self) -> Any:
        return self._job.config if self._input_text is None else decode(self._input_text)

    def _look_for_result(self, resolved: Any) -> None:
        self._reused = self._callbacks.on_ask(self._masker.value(resolved))
        self._acknowledge(self._reused is not None)

    def _resolved(self) -> Any:
        """Of an attempt without an answer: the config as the child had resolved it; None where it never came so far."""
        if self._input_text is None:
            is_raw = not self._job.is_resolved and has_expressions(encode(dict(self._job.config)))
            return None if is_raw else self._job.config
        with suppress(ValueError):  # a body wrote to a pipe that is not its own
            return decode(self._input_text)
        return None

    def _refuses(self, key: str) -> bool:
        """Masked, the next attempt would not find it again."""
        if self._masker.text(key) == key:
            return False
        message = "The key of a checkpoint holds a credential. Name the checkpoint by something that may be shown."
        self._settle(Failed(Error("bad_checkpoint", message)), "its checkpoint was refused")
        return True

    def _move(self, name: str, position: Any) -> None:
        if not self._refuses(name):
            self._callbacks.on_cursor(name, self._masker.value(position))

    def _store(self, kind: str, key: str, value: Any) -> None:
        if self._refuses(key):
            return
        if kind == "artifact" and self._shows_secret(value):
            answer: Any = {"refused": "The file holds a credential of a connection, so it is not kept."}
        else:
            answer = self._callbacks.on_checkpoint(kind, key, self._masker.value(value))
        self._acknowledge(answer)

    def _acknowledge(self, answer: Any) -> None:
        with suppress(ConnectionError, BlockingIOError):  # it is gone, or frozen: its ward or the clock will tell
            self._send(FrameType.ACK, encode(answer))

    def _shows_secret(self, staged: Any) -> bool:
        """Then the file is removed."""
        path = Path(self._job.artifact_root) / INCOMING / str(staged["file"])
        if not shows_secret(path, self._masker):
            return False
        path.unlink()
        return True

    # ------------------------------------------------------------------ the end of the child

    def _take_end(self) -> None:
        """The launcher says that the child is gone. Its last words may still be in the pipe."""
        self._child.read_status()
        while self._result is None and not self._reader.closed and is_readable(self._child.frames, LAST_WORDS_S):
            self._read_frames()
        self._settle_by_status()

    def _wait_for_end(self) -> None:
        """The pipe is closed: the child ended, or a body closed a descriptor that it does not own."""
        if self._result is None and not self._child.wait_until_gone(EXIT_NEWS_S):
            self._child.kill()
            self._settle(self._ending or Crashed("the child closed its pipe without an answer"), "it closed its pipe")
        self._settle_by_status()

    def _settle_by_status(self) -> None:
        if self._ending is not None:
            self._settle(self._ending, "it was told to end")
        else:
            self._settle(_crash(os.waitstatus_to_exitcode(self._child.status or 0)), "it is gone")

    # ------------------------------------------------------------------ limits

    def _look_at_clock(self) -> float:
        """Does what is due, and says how long to sleep at most."""
        now = monotonic_s()
        if self._log.is_full:
            self._heard_at = now if self._log.read(now) else self._heard_at
        else:
            self._log.tick(now)
        if self._ending is None:
            self._end_if_due(now)
        elif now >= self._kill_at:
            self._child.kill()
            self._settle(self._ending, "it had to be killed")
        due_at = self._limit_at if self._ending is None else self._kill_at
        return min(DRAIN_EVERY_S if self._log.is_full else POLL_S, due_at - now)

    def _end_if_due(self, now: float) -> None:
        if now >= self._limit_at:
            self._ask_to_end(self._limit, now)
        elif self._is_idle(now):
            self._ask_to_end(TimedOut(self._job.idle_limit_s or 0.0, "idle_limit"), now)
        elif now - self._asked_at >= POLL_S:
            self._asked_at = now
            if self._callbacks.should_stop():
                self._ask_to_end(Stopped(), now)

    def _is_idle(self, now: float) -> bool:
        """Whether the body has shown no sign of itself for too long."""
        limit_s = self._job.idle_limit_s
        return limit_s is not None and now - self._heard_at >= limit_s

    def _ask_to_end(self, ending: Outcome, now: float) -> None:
        self._ending = ending
        self._kill_at = now + GRACE_S
        self._child.ask_to_end()


def _crash(code: int) -> Outcome:
    """`code` as waitstatus_to_exitcode gives it: the exit code, or minus the signal."""
    if code == -signal.SIGPROF:  # see runs.runner.execute: only expressions are under that clock
        message = "The expressions of this step took too long, inside one operation. Shorten their loops."
        return Failed(Error("expression_timeout", message))
    if code >= 0:
        return Crashed(f"the child ended with exit code {code}, without an answer")
    name = signal.Signals(-code).name
    meaning = {"SIGKILL": " (maybe out of memory)", "SIGSEGV": " (segmentation fault)"}.get(name, "")
    return Crashed(f"the child was killed by {name}{meaning}")
