"""Promise P9, end to end: a connection's secrets, in headers, bodies, errors and logs of a run, are kept nowhere.

What it could bring back: a credential in an event, a checkpoint, an attempt's error, a payload, a message of the
broker, a hint to browsers, a log file of a process, or a page.
"""

import json
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis

from builder.connections.masking import MARK
from builder.connections.services import create_connection
from builder.graph.model import Policy
from runs.models import StepRun
from teams.models import Role
from tests.engine import World
from tests.fleet import Fleet
from tests.integration.steps_http.local_server import LocalServer, Seen, local_server, reply
from tests.people import Cast, cast
from tests.secret_search import database, leaks

pytestmark = pytest.mark.crash

TOKEN = 'tok/en+with "quotes" & 100%=signs-4711'
API_KEY = "key_ZQ0v83hf/+lPx9==~tail"
SECRETS = {TOKEN, API_KEY}


def answer(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
    """Says back whatever it was told; below /refuse as an error."""
    told = {"headers": seen.headers, "body": seen.body.decode(), "hex": seen.headers["authorization"].encode().hex()}
    status = 403 if seen.path.startswith("/refuse") else 200
    said = {"Content_Type": "application/json", "X_Said": seen.headers["x-api-key"]}
    reply(handler, status, json.dumps(told).encode(), **said)


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with local_server(answer) as server:
        yield server


@pytest.fixture(scope="module")
def people(shared_environment: object, server: LocalServer) -> Cast:
    people = cast()
    settings = {"base_url": server.url(""), "token": TOKEN, "headers": {"X-Api-Key": API_KEY}}
    owner = people.actor(Role.OWNER)
    create_connection(actor=owner, workspace=people.acme, name="echo", kind="http", settings=settings)
    return people


@pytest.fixture(scope="module")
def fleet(
    people: Cast, server: LocalServer, shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    environment = {**shared_environment, "PAWL_OUTBOUND_ALLOW": server.address, "PAWL_LOG_LEVEL": "DEBUG"}
    with Fleet(environment, folder, world=World(workspace=people.acme)) as fleet:
        fleet.worker(threads=4)
        fleet.sweeper()
        fleet.ready()
        yield fleet


def in_redis(client: "redis.Redis") -> Iterator[tuple[str, str]]:
    for key in client.scan_iter():
        content: Any = {
            b"hash": client.hgetall,
            b"list": lambda key: client.lrange(key, 0, -1),
            b"set": client.smembers,
            b"zset": lambda key: client.zrange(key, 0, -1),
            b"string": client.get,
        }[client.type(key)](key)
        yield key.decode(), str(content)


def files(*folders: Path) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for path in folder.rglob("*") if folder.is_dir() else [folder]:
            if path.is_file():
                yield str(path), path.read_bytes().decode("latin-1")


def pages(people: Cast, run: UUID, paths: list[str]) -> Iterator[tuple[str, str]]:
    client = people.client(Role.OWNER)
    base = f"/api/workspaces/{people.acme.slug}"
    addresses = [f"{base}/connections", f"{base}/runs", f"{base}/runs/{run}", f"{base}/runs/{run}/events?after=0"]
    for path in paths:
        addresses += [f"{base}/runs/{run}/steps/{path}", f"{base}/runs/{run}/steps/{path}/logs"]
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        yield address, answer.content.decode()


class Listener:
    """Everything that is published on any channel of Redis."""

    def __init__(self, url: str) -> None:
        self.heard: list[str] = []
        self._client = redis.Redis.from_url(url)
        self._pubsub = self._client.pubsub()
        self._pubsub.psubscribe(**{"*": lambda message: self.heard.append(str(message))})
        self._thread = self._pubsub.run_in_thread(sleep_time=0.05, daemon=True)

    def close(self) -> None:
        self._thread.stop()
        self._thread.join()
        self._client.close()


@pytest.mark.timeout(300)
def test_the_secrets_of_a_connection_are_kept_nowhere(
    fleet: Fleet, people: Cast, server: LocalServer, servers: Any, shared_environment: Mapping[str, str]
) -> None:
    """langgenius/dify#37047, n8n-io/n8n PR 18386, eric-cielo/moflo#180: masked on the screen, the secret stood in
    inputs, outputs, traces and error texts. There is no export that could hold one.
    """
    call = {"connection": "echo", "url": "/say", "method": "POST", "body_type": "json", "body": {"a": 1}}
    configs: dict[str, Any] = {
        "A": call,
        "B": {**call, "url": "/refuse"},
        "L": {"connection": "echo"},
        "F": {"connection": "echo", "fails": True},
        "Y": {
            "code": "print(inputs)\ndef main(inputs):\n    print(inputs)\n    return inputs",
            "inputs": {"a": "{{ steps.A.output }}", "l": "{{ steps.L.output }}"},
        },
        "O": {"value": "{{ steps.Y.output }}"},
    }
    refused = "S > B:http_request !> O2:output, S > F:test_leak !> O3:output"
    drawing = f"S > A:http_request > L:test_leak > Y:python > O, {refused}"
    configs |= {"O2": {"value": "refused"}, "O3": {"value": "failed"}}
    version = fleet.world.draw(drawing, configs=configs, policies=dict.fromkeys("BF", Policy(on_error="port")))
    listener = Listener(servers.redis_url)
    run = fleet.start(version)
    fleet.wait_for(run, "succeeded")
    listener.close()
    assert {seen.headers["x-api-key"] for seen in server.seen} == {API_KEY}
    assert all(TOKEN in seen.headers["authorization"] for seen in server.seen)
    assert StepRun.objects.filter(run_id=run, status="failed", handled="port").count() == 2

    places = [*database(shared_environment["DATABASE_URL"]), *pages(people, run, list("ABLFYO"))]
    with redis.Redis.from_url(servers.redis_url) as client:
        places += in_redis(client)
    places += [("published", text) for text in listener.heard]
    state = servers.valkey.folder.parent
    places += files(fleet.folder, state / "storage", servers.postgres.log, servers.valkey.log)
    assert [leak for where, text in places for leak in leaks(where, text, SECRETS)] == []
    assert sum(MARK in text or json.dumps(MARK)[1:-1] in text for _, text in places) > 10, "nothing was masked at all"
    assert listener.heard, "nothing was heard from Redis"
    fleet.check()


@pytest.mark.parametrize("secret", sorted(SECRETS))
def test_the_search_itself_finds_every_form(secret: str) -> None:
    from tests.gated_kinds import forms_of

    for form in [*forms_of(secret), f"<{secret}>", secret.upper()]:
        assert leaks("here", f"before {form} after", SECRETS), form
