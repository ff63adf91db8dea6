"""The worker's side of the launcher: one Spawner for each worker process, shared by its threads."""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from kit.clock import monotonic_s
from kit.errors import Unavailable
from runs.runner import processes

REPOSITORY = Path(__file__).resolve().parent.parent.parent
START_LIMIT_S = 60.0  # a launcher imports pydantic and jinja first, perhaps on a machine that is busy starting
GONE_LIMIT_S = 10.0
SEND_LIMIT_S = 5  # a child that takes no bytes for so long has stopped reading
DEFAULT_MEMORY_BYTES = 2 * 1024**3
CLEAR_ROUNDS = 20
FOLDER_PREFIX = "pawl-work-"
# All that a child's environment may hold: the worker's own has the database's password in it.
PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "TESSDATA_PREFIX",
    "OMP_NUM_THREADS", "PAWL_LAUNCH_LOG", "PAWL_EXTRA_STEPS", "PAWL_FAILPOINTS", "PAWL_SANDBOX_WEAK",
)  # fmt: skip


class NoChild(Unavailable):
    code = "no_child"


@dataclass
class ChildProcess:
    """The ends of a child's pipes that the worker holds."""

    pid: int
    frames: socket.socket
    log: int
    ward: socket.socket
    status: int | None = None  # wait status, once it and its descendants are gone

    def __post_init__(self) -> None:
        self.frames_fd = self.frames.fileno()
        self.ward_fd = self.ward.fileno()
        self.poller = select.poll()  # kept: registering costs more than a whole round trip should
        for descriptor in (self.frames_fd, self.log, self.ward_fd):
            self.poller.register(descriptor, select.POLLIN)

    def ask_to_end(self) -> None:
        self._say(b"T")

    def kill(self) -> None:
        """Returns when the child and all its descendants are gone. The pipes can still be read; see close."""
        if self.status is None:
            self._say(b"K")
            self.wait_until_gone(GONE_LIMIT_S)
        if self.status is None:  # a launcher that does not answer: its death ends the child (PDEATHSIG)
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait_until_gone(self, limit_s: float) -> bool:
        """Whether the launcher said within the time that everything is gone."""
        deadline = monotonic_s() + limit_s
        while self.status is None and (left_s := deadline - monotonic_s()) > 0:
            if is_readable(self.ward, left_s):
                self.read_status()
        return self.status is not None

    def read_status(self) -> None:
        """Takes the launcher's word. Where the launcher itself is gone, its children were killed with it."""
        message = b""
        with suppress(ConnectionError):
            message = self.ward.recv(64)
        if message.startswith(b"exit "):
            self.status = int(message.split()[1])
            return
        self.status = int(signal.SIGKILL)
        with suppress(ProcessLookupError, PermissionError):  # nobody sweeps: end at least what stayed in its group
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        if self.log >= 0:
            os.close(self.log)
            self.log = -1
        self.frames.close()
        self.ward.close()

    def _say(self, message: bytes) -> None:
        with suppress(OSError):
            self.ward.send(message, socket.MSG_NOSIGNAL)


@dataclass(frozen=True)
class _Launcher:
    process: subprocess.Popen[bytes]
    control: socket.socket
    folder: str


class Spawner:
    """Starts children through a launcher of its own, which is started with the first child and again if it dies."""

    def __init__(self, *, memory_limit_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._memory_limit_bytes = memory_limit_bytes
        self._lock = Lock()
        self._launcher: _Launcher | None = None
        # PDEATHSIG follows the thread that started a process: the one of this executor lives as long as the worker.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pawl-spawner")

    def start(self) -> None:
        """Starts the launcher ahead of the first child. Does not wait for it."""
        with self._lock:
            self._ensure_launcher()

    def spawn(self) -> ChildProcess:
        """A new child, ready for a job. Raises NoChild."""
        for _ in range(2):  # the launcher may have been killed since the last one
            with self._lock:
                launcher = self._ensure_launcher()
            child = _ask_for_child(launcher)
            if child is not None:
                return child
            self._drop_launcher(launcher)
        raise NoChild("The process that starts step processes ends at once. Its error is in the worker's own output.")

    def close(self) -> None:
        """Ends every child and the launcher."""
        self._drop_launcher(self._launcher)
        self._thread.shutdown()

    def _ensure_launcher(self) -> _Launcher:
        if self._launcher is None or self._launcher.process.poll() is not None:
            self._forget_launcher()
            self._launcher = self._start_from_its_thread()
        return self._launcher

    def _start_from_its_thread(self) -> _Launcher:
        try:
            return self._thread.submit(self._start_launcher).result()
        except RuntimeError as problem:  # the executor was shut down
            raise NoChild("This worker is ending: no step process is started any more.") from problem

    def _start_launcher(self) -> _Launcher:
        sweep_left_folders()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-{pid_namespace()}-")
        arguments = [str(theirs.fileno()), str(os.getpid()), str(self._memory_limit_bytes), folder]
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "runs.runner.launcher", *arguments],
                cwd=folder,
                env=_environment(folder),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        return _Launcher(process, ours, folder)

    def _drop_launcher(self, launcher: _Launcher | None) -> None:
        with self._lock:
            if launcher is self._launcher:  # else another thread has replaced it already, and uses the new one
                self._forget_launcher()

    def _forget_launcher(self) -> None:
        launcher, self._launcher = self._launcher, None
        if launcher is None:
            return
        launcher.control.close()  # it ends its children, then itself
        try:
            launcher.process.wait(GONE_LIMIT_S)
        except subprocess.TimeoutExpired:
            launcher.process.kill()
            launcher.process.wait()
        _clear(launcher.folder)


def _ask_for_child(launcher: _Launcher) -> ChildProcess | None:
    with _ends() as (child, theirs), suppress(BrokenPipeError, ConnectionResetError):
        socket.send_fds(launcher.control, [b"spawn"], theirs, socket.MSG_NOSIGNAL)
    message = b""
    if is_readable(child.ward, START_LIMIT_S):
        with suppress(ConnectionError):
            message = child.ward.recv(64)
    if not message.startswith(b"pid "):
        child.close()
        return None
    child.pid = int(message.split()[1])
    return child


def _environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        **kept,
        "HOME": folder,
        "TMPDIR": folder,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


@contextmanager
def _ends() -> Iterator[tuple[ChildProcess, list[int]]]:
    """Our ends of a child's pipes, and the descriptors to send away; those are closed at the end."""
    frames, their_frames = socket.socketpair()
    ward, their_ward = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    log, their_log = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(log, False)
    frames.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SEND_LIMIT_S.to_bytes(8, sys.byteorder) + bytes(8))
    try:
        yield ChildProcess(0, frames, log, ward), [their_frames.fileno(), their_log, their_ward.fileno()]
    finally:
        their_frames.close()
        their_ward.close()
        os.close(their_log)


def is_readable(sock: socket.socket, limit_s: float) -> bool:
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(limit_s * 1000))


def _clear(folder: str) -> None:
    """Ends what a launcher would have ended, had it not been killed itself, and removes its folder."""
    for _ in range(CLEAR_ROUNDS):  # they may fork meanwhile
        strays = processes.started_with(f"HOME={folder}\0")
        if not strays:
            break
        processes.send(strays, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def pid_namespace() -> int:
    """A pid means something within its namespace only; containers may share a /tmp."""
    return Path("/proc/self/ns/pid").stat().st_ino


def sweep_left_folders() -> None:
    """Clears up after workers that were killed together with their launchers: bodies' daemons, and folders."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*-{pid_namespace()}-*"):
        owner = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path(f"/proc/{owner}").exists():
            _clear(str(folder))
