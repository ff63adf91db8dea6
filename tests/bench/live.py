"""How late a browser hears: its own websocket, a run whose steps take a little each, and the time in each event."""

import json
import time
from datetime import datetime

from websockets.sync.client import ClientConnection, connect

from builder.workflows.models import Version
from tests.bench.speed import quantile
from tests.bench.stack import Bench
from tests.bench.workflows import INPUT, SLUG

RUNS = 4
SILENCE_S = 30.0


def measure_live(bench: Bench, version: Version) -> float:
    """Milliseconds at the 95th percentile, from an event's time (of the statement that wrote it, before its commit)
    to the moment at which a subscribed socket holds it. Events from before the subscription do not count.
    """
    late: list[float] = []
    with _socket(bench) as socket:
        for _ in range(RUNS):
            run = bench.start(version.workflow_id, INPUT)
            socket.send(json.dumps({"subscribe": {"workspace": SLUG, "run": run, "after": 0}}))
            late += _follow(socket, run, since=time.time())
            socket.send(json.dumps({"unsubscribe": {"run": run}}))
            bench.stack.look()
    return quantile(late, 0.95)


def _socket(bench: Bench) -> ClientConnection:
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in bench.client._http.cookies.jar)
    address = bench.stack.url.replace("http://", "ws://") + "/ws/live"
    return connect(address, origin=bench.stack.url, additional_headers={"Cookie": cookies}, proxy=None)


def _follow(socket: ClientConnection, run: str, *, since: float) -> list[float]:
    late = []
    while True:
        message = json.loads(socket.recv(timeout=SILENCE_S))
        now = time.time()
        if message.get("run") != run or message["type"] != "events":
            continue
        times = [datetime.fromisoformat(event["at"]).timestamp() for event in message["events"]]
        late += [1000 * (now - at) for at in times if at > since]
        if message["events"][-1]["type"] == "run.succeeded":
            return late
