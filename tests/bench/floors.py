"""What the machine itself costs just now: a durable commit, and a question to Redis. Others are read beside them."""

import os
import statistics
import time
from collections.abc import Callable

import redis
from django.conf import settings

from tests.bench.stack import BenchProblem, connect

ROUNDS = 200
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


def assert_durable() -> None:
    """Figures of a database that forgets at a power cut would be worth nothing."""
    with connect() as connection:
        for name in DURABLE:
            value = connection.execute(f"SHOW {name}").fetchone()  # type: ignore[arg-type,unused-ignore]
            if value != ("on",):
                raise BenchProblem(f"PostgreSQL runs with {name} = {value}: the bench wants a durable one.")


def floor_commit_ms(step_bytes: int) -> float:
    """Begin, insert as many bytes as a step writes to the log, commit: one round trip, bare psycopg."""
    with connect() as connection:
        connection.execute("CREATE TABLE bench_floor (body bytea STORAGE EXTERNAL)")
        body = os.urandom(max(1, step_bytes - 150))  # the rest is the row's and the commit's own record

        def commit() -> None:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute("INSERT INTO bench_floor VALUES (%b)", (body,))
                connection.execute("COMMIT")

        found = _median_ms(commit)
        connection.execute("DROP TABLE bench_floor")
        return found


def floor_queue_ms() -> float:
    client = redis.Redis.from_url(settings.REDIS_URL)
    try:
        return _median_ms(lambda: client.rpush("bench", b"1"))
    finally:
        client.delete("bench")
        client.close()


def _median_ms(act: Callable[[], object]) -> float:
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took[ROUNDS // 10 :])
