"""The state folder of one checkout and the two servers in it: `with House(...) as house` has them running."""

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from config.services import processes
from config.services.errors import ServiceProblem
from config.services.keys import Keys
from config.services.ports import free_port, reserve
from config.services.postgres import Postgres, is_reachable
from config.services.valkey import Valkey

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_PORTS = {"web": 8000, "postgres": 5432, "redis": 6379, "sample_http": 8010, "sample_smtp": 8025}
MARK = "PAWL_HOUSE"  # in the environment of every process that we start, so that a later start finds leftovers
_LOCK_WAIT_S = 6.0  # an earlier start that was killed leaves children that stop by themselves, in a moment

Say = Callable[[str], None]


class AlreadyRunning(ServiceProblem):
    """Another process holds this state folder."""


class House:
    def __init__(self, state: Path, *, say: Say, given: Mapping[str, str]) -> None:
        self.state = state.resolve()
        self.keys = Keys(self._made(self.state) / "keys")
        self.environment: dict[str, str] = {}
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None
        self._given = given
        self._say = say
        self._lock = _Lock(self.state / "lock")
        self._keepers: list[socket.socket] = []
        self._ports: dict[str, int] = _read_json(self.state / "ports.json")

    def __enter__(self) -> Self:
        self._lock.take(wait_s=_LOCK_WAIT_S)
        try:
            self._end_leftovers()
            self._start_servers()
            self._publish()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Whoever is left first, then Redis: nobody is there to be woken; PostgreSQL last."""
        self._end_marked()
        (self.state / "running.json").unlink(missing_ok=True)
        if self.valkey is not None:
            self.valkey.stop()
        if self.postgres is not None:
            self.postgres.stop()
        for keeper in self._keepers:
            keeper.close()
        self._lock.release()

    def take_port(self, name: str) -> int:
        """The last one of this checkout, else the default, else a free one; remembered: links and settings name it.

        Kept until we close, also while nobody listens: what dies is started again where it was.
        """
        taken = [port for other, port in self._ports.items() if other != name]
        while True:
            port = free_port(self._preferred(name), taken=taken)
            keeper = reserve(port)
            if keeper is not None:
                self._keepers.append(keeper)
                return self._settle_port(name, port)
            taken.append(port)  # another checkout has chosen it and does not listen yet

    def keep_servers_alive(self) -> None:
        """Start again what has died, where it was: its address is in everybody's environment."""
        if self.postgres is not None and not _runs(self.postgres.process):
            self._say("PostgreSQL has died; starting it again")
            port = self.postgres.port
            self.postgres.start(preferred=[port])
            _same_port("PostgreSQL", port, self.postgres.port)
        if self.valkey is not None and not _runs(self.valkey.process):
            self._say("Redis has died; starting it again")
            port = self.valkey.port
            self.valkey.start(preferred=[port])
            _same_port("Redis", port, self.valkey.port)

    # ------------------------------------------------------------------ one thing after the other
    @staticmethod
    def _made(state: Path) -> Path:
        state.mkdir(parents=True, exist_ok=True)
        state.chmod(0o711)  # what is secret is closed by itself; PostgreSQL's account must be able to pass
        return state

    def _end_leftovers(self) -> None:
        ended = self._end_marked()
        if ended:
            self._say(f"Ended {ended} processes that an earlier start had left behind")

    def _end_marked(self) -> int:
        return processes.end(
            lambda: processes.processes_marked(MARK, str(self.state)), number=signal.SIGTERM, grace_s=2.0
        )

    def _start_servers(self) -> None:
        secret = self.keys.get
        environment = {
            MARK: str(self.state),
            "PAWL_STATE_DIR": str(self.state),
            "PAWL_SECRET_KEY": self._given.get("PAWL_SECRET_KEY") or secret("secret"),
            "PAWL_ENCRYPTION_KEYS": self._given.get("PAWL_ENCRYPTION_KEYS") or secret("encryption"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        if given := self._given.get("DATABASE_URL"):
            self._say(f"PostgreSQL: yours at {_host(given)} (DATABASE_URL)")
        else:
            environment |= self._start_postgres()
        if given := self._given.get("REDIS_URL"):
            self._say(f"Redis: yours at {_host(given)} (REDIS_URL)")
        else:
            environment |= self._start_valkey()
        self.environment = {**self._given, **environment}

    def _start_postgres(self) -> dict[str, str]:
        self.postgres = Postgres(self._postgres_folder(), password=self.keys.get("postgres"))
        first = not self.postgres.data.exists()
        self.postgres.start(preferred=[self.take_port("postgres")])
        self._settle_port("postgres", self.postgres.port)
        ours, sample = self.keys.get("postgres-pawl"), self.keys.get("postgres-sample")
        self.postgres.provision("pawl", user="pawl", password=ours)
        # The sample's database has a role of its own: a sql step must never see Pawl's own tables.
        self.postgres.provision("sample", user="sample", password=sample)
        self._say(f"PostgreSQL: {self.postgres.address}{' (new data folder)' if first else ''}")
        return {
            "DATABASE_URL": self.postgres.url("pawl", user="pawl", password=ours),
            "PAWL_SAMPLE_DATABASE_URL": self.postgres.url("sample", user="sample", password=sample),
            "PAWL_OUTBOUND_ALLOW": joined(self._given.get("PAWL_OUTBOUND_ALLOW", ""), self.postgres.address),
        }

    def _start_valkey(self) -> dict[str, str]:
        self.valkey = Valkey(self.state / "redis", password=self.keys.get("redis"))
        self.valkey.start(preferred=[self.take_port("redis")])
        self._settle_port("redis", self.valkey.port)
        self._say(f"Redis: 127.0.0.1:{self.valkey.port}")
        return {"REDIS_URL": self.valkey.url}

    def _postgres_folder(self) -> Path:
        """Beside the rest, unless root's own folders keep PostgreSQL's account out."""
        if processes.unprivileged_account() is None or is_reachable(self.state):
            return self.state / "postgres"
        name = hashlib.sha256(str(self.state).encode()).hexdigest()[:12]
        elsewhere = Path("/var/lib/pawl") / name
        elsewhere.parent.mkdir(mode=0o755, exist_ok=True)
        elsewhere.mkdir(mode=0o711, exist_ok=True)
        (self.state / "postgres-is-elsewhere").write_text(f"{elsewhere}\n")
        self._say(f"PostgreSQL does not run as root, and {self.state} is closed to others: its data is in {elsewhere}")
        return elsewhere / "postgres"

    def _publish(self) -> None:
        """For `exec` in another terminal, which joins the servers that run."""
        path = self.state / "running.json"
        ours = {name: value for name, value in self.environment.items() if self._given.get(name) != value}
        ours.pop(MARK, None)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(ours, file)

    def _preferred(self, name: str) -> list[int]:
        last = self._ports.get(name)
        return [DEFAULT_PORTS[name]] if last is None else [last, DEFAULT_PORTS[name]]

    def _settle_port(self, name: str, port: int) -> int:
        preferred = self._preferred(name)
        if port != preferred[0]:
            self._say(f"Port {preferred[0]} is taken by another program: {name} takes {port}")
        self._ports[name] = port
        (self.state / "ports.json").write_text(json.dumps(self._ports, sort_keys=True) + "\n")
        return port


def environment_of_running(state: Path) -> dict[str, str]:
    """Of the house that another process keeps; empty if it is just starting or stopping."""
    return _read_json(state / "running.json")


def joined(*lists: str) -> str:
    """Comma-separated lists, one after the other."""
    return ",".join(part for part in lists if part)


class _Lock:
    """Held by an open file, so that the kernel gives it back whatever ends us."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self, *, wait_s: float) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + wait_s
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if (self._path.parent / "running.json").exists() or time.monotonic() > deadline:
                os.close(descriptor)
                raise AlreadyRunning(
                    f"Pawl runs already in {self._path.parent}: stop it first (Ctrl-C in its terminal)."
                )
            time.sleep(0.05)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _read_json(path: Path) -> dict[str, Any]:
    """Empty when it is not there or was cut short by a power cut: everything in it can be chosen anew."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _runs(process: Any) -> bool:
    return process is not None and process.poll() is None


def _same_port(name: str, before: int, after: int) -> None:
    if before != after:
        raise ServiceProblem(f"{name} died and another program took its port {before}: start `make run` again.")


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'local socket'}:{parts.port or 'default port'}"
