"""The process that starts a worker's children, ends them, and leaves nothing behind. One for each worker process.

`python -m runs.runner.launcher CONTROL_FD WORKER_PID MEMORY_BYTES FOLDER`, exec'd by runs.runner.spawner with a
scrubbed environment. It has no state of the worker's, imports what every child needs once, and forks: a child costs
milliseconds and shares those pages. It is single-threaded, so that forking is safe and PDEATHSIG (which follows a
thread) means what it says. When the worker ends, however it ends, the control socket closes and everything below goes.

    worker --control: 'spawn' + (frames, log, ward)--> launcher --fork--> child
    worker --ward: 'T' (ask to end) | 'K' (end) | closed (end)--> launcher
    worker <--ward: 'pid N', then 'exit STATUS' when the child and all its descendants are gone-- launcher
"""

import gc
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from runs.runner import child, confine, processes

MESSAGE_BYTES = 64
SWEEP_LIMIT_S = 5.0  # a process in an uninterruptible read of a dead disk can outlive its SIGKILL; do not wait for it
SWEEP_POLL_S = 0.001


@dataclass(frozen=True)
class Ward:
    """A child that lives, and the socket by which the worker speaks about it."""

    pid: int
    sock: socket.socket


class Launcher:
    def __init__(self, control: socket.socket, *, folder: Path) -> None:
        self._control = control
        self._folder = folder
        self._pid = os.getpid()
        self._wards: dict[int, Ward] = {}
        self._ended: list[tuple[int, int]] = []  # reaped, not yet told
        self._is_stopping = False
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> None:
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._selector.register(self._control, selectors.EVENT_READ, self._take_order)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._wake)
        while not self._is_stopping:
            for key, _ in self._selector.select():
                key.data() if not isinstance(key.data, Ward) else self._listen_to(key.data)
            self._bury_ended()
        self._end_all()

    def stop(self, number: int, frame: FrameType | None) -> None:
        self._is_stopping = True

    def _wake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_read, MESSAGE_BYTES)

    def _take_order(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 3)
        if not message:  # the worker closed it, or is no more
            self._is_stopping = True
        elif len(descriptors) == 3:
            self._spawn(*descriptors)

    def _spawn(self, frames: int, log: int, ward: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_child(frames, log, ward)
        os.close(frames)
        os.close(log)
        known = self._wards[pid] = Ward(pid, socket.socket(fileno=ward))
        self._selector.register(known.sock, selectors.EVENT_READ, known)
        self._tell(known, f"pid {pid}")

    def _become_child(self, frames: int, log: int, ward: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            os.setsid()
            confine.die_with_parent(parent=self._pid, how=signal.SIGKILL)
            confine.adopt_orphans()
            confine.take_name("pawl-child")
            confine.volunteer_for_oom_killer()
            self._selector.close()
            for descriptor in (self._control.fileno(), ward, self._wake_read, self._wake_write):
                os.close(descriptor)
            for other in self._wards.values():
                other.sock.close()
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            child.serve(socket.socket(fileno=frames), folder=self._folder / str(os.getpid()))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - nothing may unwind into the launcher's own loop in this process
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(child.EXIT_BROKEN)

    def _listen_to(self, ward: Ward) -> None:
        message = b""
        with suppress(ConnectionError):
            message = ward.sock.recv(MESSAGE_BYTES)
        if message == b"T":
            processes.send([ward.pid, *processes.descendants_of(ward.pid)], signal.SIGTERM)
            return
        self._kill(ward)
        if not message:
            self._selector.unregister(ward.sock)  # nobody listens any more; a closed socket would wake us for ever

    def _kill(self, ward: Ward) -> None:
        """Its group and itself; what left the group becomes ours when it ends, and is swept then."""
        with suppress(ProcessLookupError):
            os.killpg(ward.pid, signal.SIGKILL)
        processes.send([ward.pid], signal.SIGKILL)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self._wards:
                    self._ended.append((pid, status))

    def _bury_ended(self) -> None:
        self._reap()
        while self._ended:
            pid, status = self._ended.pop()
            ward = self._wards.pop(pid)
            self._sweep()
            shutil.rmtree(self._folder / str(pid), ignore_errors=True)
            with suppress(KeyError, ValueError):
                self._selector.unregister(ward.sock)
            self._tell(ward, f"exit {status}")
            ward.sock.close()

    def _sweep(self) -> None:
        """Ends every process below us that we did not start: orphans of a child that ended. They may fork meanwhile."""
        give_up_at = time.monotonic() + SWEEP_LIMIT_S
        while time.monotonic() < give_up_at:
            self._reap()
            ended = {pid for pid, _ in self._ended}
            strangers = [pid for pid in processes.children_of(self._pid) if pid not in self._wards and pid not in ended]
            if not strangers:
                return
            for stranger in strangers:
                processes.send([stranger, *processes.descendants_of(stranger)], signal.SIGKILL)
            time.sleep(SWEEP_POLL_S)

    def _tell(self, ward: Ward, message: str) -> None:
        with suppress(OSError):  # the worker may be gone
            ward.sock.send(message.encode(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def _end_all(self) -> None:
        for ward in list(self._wards.values()):
            self._kill(ward)
        give_up_at = time.monotonic() + SWEEP_LIMIT_S
        while self._wards and time.monotonic() < give_up_at:
            self._bury_ended()
            time.sleep(SWEEP_POLL_S)
        self._sweep()
        shutil.rmtree(self._folder, ignore_errors=True)


def main(control_fd: int, *, worker_pid: int, memory_bytes: int, folder: str) -> None:
    launcher = Launcher(socket.socket(fileno=control_fd), folder=Path(folder))
    signal.signal(signal.SIGTERM, launcher.stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # TERM, not KILL: descendants of our children that started sessions of their own must be ended by us first.
    confine.die_with_parent(parent=worker_pid, how=signal.SIGTERM)
    confine.adopt_orphans()
    confine.give_up_privileges()
    confine.take_name("pawl-launcher")
    confine.limit_memory(memory_bytes)
    child.preload()
    gc.collect()
    gc.freeze()  # a collection in a child would otherwise write to, and so copy, every shared page
    launcher.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), worker_pid=int(sys.argv[2]), memory_bytes=int(sys.argv[3]), folder=sys.argv[4])
