"""The warm child: takes one job after the other, executes it, answers. Runs in a process that launcher.py forked.

Bodies and specs are loaded when a job first needs them, and stay. Whatever a body leaves behind (a thread, a process, a
signal handler) is told with the answer, and the worker then ends this child.
"""

import _thread
import faulthandler
import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType as StackFrame

from runs.runner.context import Channel, Context
from runs.runner.execute import execute
from runs.runner.frames import Frame, FrameReader, FrameType, ProtocolError, pack
from runs.runner.jobs import Task, pack_answer, unpack_job
from steps import registry

EXIT_BROKEN = 70
JOB_LIMIT_BYTES = 2**31
WAIT_ANY_CLONE = 0x40000000  # __WALL: also children that send no SIGCHLD
LAUNCH_LOG = "PAWL_LAUNCH_LOG"
LIBRARIES = ("httpx", "jsonschema")  # of common bodies; 0.1 s that would otherwise be part of each child's first step


class Told(BaseException):
    """The worker told this child to end (SIGTERM). Not an Exception: a body that catches those must not swallow it."""


class Child:
    def __init__(self, sock: socket.socket, *, folder: Path) -> None:
        self._sock = sock
        self._reader = FrameReader(sock, limit_bytes=JOB_LIMIT_BYTES)
        self._folder = folder
        self._pid = os.getpid()
        self._launch_log = os.environ.get(LAUNCH_LOG)
        self._job: Frame | None = None
        self._count = 0
        self._is_told = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._on_term)
        while not self._is_told:
            frame = self._next()
            if frame is None:
                return
            if frame.type is not FrameType.JOB:
                raise ProtocolError(f"{frame.type} where a job was due")
            self._job = frame
            self._serve(frame)

    def _next(self) -> Frame | None:
        while True:
            frame = self._reader.read()
            if frame is not None or self._reader.closed:
                return frame

    def _serve(self, frame: Frame) -> None:
        task = unpack_job(frame.text)
        if self._launch_log:
            self._note_launch(task, frame.fence)
        self._count += 1
        channel = Channel(self._send, self._wait_for_ack, is_told=lambda: self._is_told)
        context = Context(task, fence=frame.fence, channel=channel, folder=self._folder / str(self._count))
        execution = execute(task, context)
        if os.getpid() != self._pid:  # a body forked, and the copy came out of the body as well
            os._exit(EXIT_BROKEN)
        if self._is_told:  # the body swallowed it; its answer comes too late
            return
        sys.stdout.flush()
        sys.stderr.flush()
        if context.has_workdir:
            shutil.rmtree(context.workdir, ignore_errors=True)
        retire = execution.retire or self._what_is_left()
        self._send(FrameType.OUTCOME, pack_answer(execution.result, retire=retire))

    def _what_is_left(self) -> str | None:
        """What of this job would disturb the next one. Threads of C libraries are theirs to keep warm."""
        if _thread._count() > 0:  # noqa: SLF001 - threading knows nothing of threads started below it
            return "it left a thread behind"
        if _has_children():
            return "it left a process behind"
        if signal.getsignal(signal.SIGTERM) != self._on_term:
            return "it changed the handler of SIGTERM"
        return None

    def _send(self, type_: FrameType, text: str) -> None:
        job = self._job
        assert job is not None  # only a body and its answer send
        self._sock.sendall(pack(type_, text, step_run_id=job.step_run_id, fence=job.fence))

    def _wait_for_ack(self) -> str:
        """The worker acknowledges what it stored, with an answer; it ends this process where it could not."""
        job, frame = self._job, self._next()
        if frame is None:
            raise Told
        if job is None or (frame.type, frame.step_run_id, frame.fence) != (FrameType.ACK, job.step_run_id, job.fence):
            raise ProtocolError(f"{frame.type} where an acknowledgement was due")
        return frame.text

    def _note_launch(self, task: Task, fence: int) -> None:
        """One write to a file opened for appending: lines of many processes never mix. Counted from outside Pawl."""
        line = f"{task.run_id} {task.path} {task.attempt} {fence} {self._pid}\n"
        log = os.open(str(self._launch_log), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(log, line.encode())
        os.close(log)

    def _on_term(self, number: int, frame: StackFrame | None) -> None:
        self._is_told = True
        raise Told


def _has_children() -> bool:
    """Whether descendants live. This process is a subreaper: each has or gets an ancestor among its direct children."""
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG | WAIT_ANY_CLONE)
            if pid == 0:
                return True
    return False


def serve(sock: socket.socket, *, folder: Path) -> None:
    """Executes jobs until the worker closes the socket or sends TERM."""
    # Line by line, so that a log is seen while the body runs; text that no encoding can hold is escaped.
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    faulthandler.enable(sys.stderr)  # where a segmentation fault happened then stands in the attempt's log
    with suppress(Told, ConnectionError):
        Child(sock, folder=folder).run()


def preload() -> None:
    """Imports, in the launcher, what most children will need: once, into pages that they share. No body."""
    registry.all_specs()
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
