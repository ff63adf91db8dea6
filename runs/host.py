"""Which process this is, and whether a process of this host is still there: by boot, namespace, pid, start time."""

import os
import socket
from pathlib import Path
from uuid import UUID

from runs.store.fleet import WorkerIdentity

PROC = Path("/proc")


def boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def pid_namespace() -> str:
    return str((PROC / "self/ns/pid").stat().st_ino)


def started_at_tick(pid: int) -> int | None:
    """Clock ticks between boot and the process's start; None where it is gone, or only a zombie."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


def identify(worker_id: UUID) -> WorkerIdentity:
    pid = os.getpid()
    return WorkerIdentity(worker_id, socket.gethostname(), boot_id(), pid_namespace(), pid, started_at_tick(pid) or 0)


def is_gone(identity: WorkerIdentity) -> bool | None:
    """Whether that worker's process is gone. None where this one cannot see: another boot, host or PID namespace."""
    if identity.boot_id != boot_id() or identity.pid_namespace != pid_namespace():
        return None
    return started_at_tick(identity.pid) != identity.pid_started
