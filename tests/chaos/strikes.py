"""Each kind of fault, done to the processes and servers of the job. From the main thread alone: it starts servers."""

import contextlib
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
import redis

from config.services.house import House
from config.services.supervisor import Supervisor
from runs.runner.processes import children_of, descendants_of, send
from tests.chaos.plan import Fault, Strike

QUEUE = "pawl:default"
COPIES, JUNK = 300, 20
# Those first of which a person has to decide when they die, where there are any, every second time.
RUNNING = (
    """SELECT run_id::text, path, attempt, kind = 'chaos_at_most_once' FROM runs_steprun WHERE status = 'running'"""
)
THROW_OUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = 'pawl' AND pid <> pg_backend_pid()"""


class Striker:
    """`strike` answers whether there was anything to strike; `look`, called often, ends what lasts for a while."""

    def __init__(self, house: House, supervisor: Supervisor, *, names: Sequence[str], launches: Path) -> None:
        assert house.postgres is not None
        assert house.valkey is not None
        self.postgres, self.valkey = house.postgres, house.valkey
        self.supervisor, self.names = supervisor, names
        self.launches = launches
        self.struck: Counter[Fault] = Counter()
        self._later: list[tuple[float, Callable[[], object]]] = []

    def strike(self, strike: Strike) -> bool:
        found = bool(getattr(self, strike.fault.value)(strike))
        self.struck[strike.fault] += found
        return found

    def look(self) -> None:
        for entry in [entry for entry in self._later if entry[0] <= time.monotonic()]:
            self._later.remove(entry)
            entry[1]()

    def end(self) -> None:
        """Everything that is frozen or away comes back now."""
        for _, act in self._later:
            act()
        self._later = []

    # ------------------------------------------------------------------ processes
    def kill_body(self, strike: Strike) -> bool:
        """A child in the middle of a body: the tables tell which bodies run, the launch log in which process."""
        with contextlib.suppress(psycopg.OperationalError), self._superuser("pawl") as database:
            running = {(run, path, str(attempt)): is_once for run, path, attempt, is_once in database.execute(RUNNING)}
            lines = [line.split(" ") for line in self.launches.read_text().splitlines()]
            found = [(int(line[4]), running[tuple(line[:3])]) for line in lines if tuple(line[:3]) in running]
            once = [pid for pid, is_once in found if is_once]
            return _kill(once if once and strike.pick % 2 else [pid for pid, _ in found], strike.pick // 2)
        return False

    def kill_worker(self, strike: Strike) -> bool:
        """The worker process alone; its master ends for it, and is started again."""
        return _kill([worker for master in self._pids("worker") for worker in _workers_of(master)], strike.pick)

    def kill_machine(self, strike: Strike) -> bool:
        masters = self._pids("worker")
        send([pid for master in masters for pid in (master, *descendants_of(master))], signal.SIGKILL)
        return bool(masters)

    def kill_sweeper(self, strike: Strike) -> bool:
        return _kill(self._pids("sweeper"), strike.pick)

    def kill_web(self, strike: Strike) -> bool:
        return _kill(self._pids("web"), strike.pick)

    def stop_worker(self, strike: Strike) -> bool:
        return self._freeze(self._pids("worker"), strike)

    def stop_sweeper(self, strike: Strike) -> bool:
        return self._freeze(self._pids("sweeper"), strike)

    def _freeze(self, pids: Sequence[int], strike: Strike) -> bool:
        if not pids:
            return False
        master = pids[strike.pick % len(pids)]
        frozen = [master, *descendants_of(master)]
        send(frozen, signal.SIGSTOP)
        self._after(strike.lasts_s, lambda: send(frozen, signal.SIGCONT))
        return True

    def _pids(self, name: str) -> list[int]:
        kept = [self.supervisor.pid(each) for each in self.names if each.startswith(name)]
        return [pid for pid in kept if pid is not None]

    # ------------------------------------------------------------------ servers
    def terminate_backends(self, strike: Strike) -> bool:
        with contextlib.suppress(psycopg.OperationalError), self._superuser("postgres") as database:
            return database.execute(THROW_OUT).rowcount > 0
        return False

    def postgres_restart(self, strike: Strike) -> bool:
        """Ends as by a power cut of its own: whatever was not committed is gone."""
        if self.postgres.process is None:
            return False
        self.postgres.stop(immediately=True)
        self._after(strike.lasts_s, lambda: self.postgres.start(preferred=[self.postgres.port]))
        return True

    def flushall(self, strike: Strike) -> bool:
        with contextlib.suppress(redis.RedisError), self._redis() as client:
            return bool(client.flushall())
        return False

    def redis_off(self, strike: Strike) -> bool:
        if self.valkey.process is None:
            return False
        self.valkey.stop()
        self._after(strike.lasts_s, lambda: self.valkey.start(preferred=[self.valkey.port]))
        return True

    def duplicate_wakeups(self, strike: Strike) -> bool:
        message = {"queue_name": "default", "actor_name": "advance", "args": ["default"], "kwargs": {}}
        bodies = {}
        for number in range(COPIES):
            name = f"copy-{strike.pick}-{number}"
            own = {"message_id": name, "message_timestamp": _now_ms(), "options": {"redis_message_id": name}}
            bodies[name] = json.dumps({**message, **own})
        return self._push(bodies)

    def forged_wakeups(self, strike: Strike) -> bool:
        """No JSON, an unknown actor, an unknown lane, no arguments, and one of yesterday."""
        message = {"queue_name": "default", "actor_name": "advance", "kwargs": {}, "options": {}, "message_id": "x"}
        forged = [
            "\x00{", "[]", "", json.dumps({**message, "actor_name": "drop_tables", "args": ["default"],
            "message_timestamp": _now_ms()}), json.dumps({**message, "args": ["nowhere"],
            "message_timestamp": _now_ms()}), json.dumps({**message, "args": [], "message_timestamp": _now_ms()}),
            json.dumps({**message, "args": ["default"], "message_timestamp": _now_ms() - 24 * 3600 * 1000}),
        ]  # fmt: skip
        return self._push({f"junk-{strike.pick}-{number}": forged[number % len(forged)] for number in range(JUNK)})

    def _push(self, bodies: dict[str, str]) -> bool:
        with contextlib.suppress(redis.RedisError), self._redis() as client, client.pipeline() as pipeline:
            for name, body in bodies.items():
                pipeline.hset(f"{QUEUE}.msgs", name, body)
                pipeline.rpush(QUEUE, name)
            pipeline.execute()
            return True
        return False

    def _redis(self) -> "redis.Redis":
        return redis.Redis.from_url(self.valkey.url, socket_timeout=2, socket_connect_timeout=2)

    def _superuser(self, database: str) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.postgres.url(database), autocommit=True, connect_timeout=2)

    def _after(self, seconds: float, act: Callable[[], object]) -> None:
        self._later.append((time.monotonic() + seconds, act))


def _workers_of(master: int) -> list[int]:
    """Dramatiq's master starts its worker beside a process of Python's own that counts semaphores."""
    return [child for child in children_of(master) if b"resource_tracker" not in _command(child)]


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _kill(pids: Sequence[int], pick: int) -> bool:
    if not pids:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[pick % len(pids)], signal.SIGKILL)
        return True
    return False


def _now_ms() -> int:
    return int(time.time() * 1000)
