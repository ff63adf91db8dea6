"""Pawl's API beside the browser: to prepare what a test looks at, and to compare the screen with."""

import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from playwright._impl._api_structures import SetCookieParam

from sample.crash.clients import PawlClient, Row

Found = TypeVar("Found")
PATIENCE_S = 60.0
FINAL = frozenset({"succeeded", "failed", "cancelled"})


class Api(PawlClient):
    def cookies(self) -> list[SetCookieParam]:
        """For a browser that comes in without signing in."""
        return [{"name": name, "value": value, "url": self._base_url} for name, value in self._http.cookies.items()]

    def close(self) -> None:
        self._http.close()

    def draw(self, name: str, *, nodes: list[Row], edges: list[Row], publish: bool = True) -> str:
        """A workflow with this graph; its id."""
        made = self.post("/workflows", {"name": name, "graph": {"schema": 1, "nodes": nodes, "edges": edges}})
        workflow = str(made["id"])
        if publish:
            draft = self.get(f"/workflows/{workflow}/draft")
            self.post(f"/workflows/{workflow}/publish", {"revision": draft["revision"], "note": ""})
        return workflow

    def publish_changed(self, workflow: str, *, key: str, config: Row) -> None:
        """A further version, on which one step has other settings."""
        draft = self.get(f"/workflows/{workflow}/draft")
        changed = next(one for one in draft["graph"]["nodes"] if one["key"] == key)
        changed["config"] = config
        body = {"revision": draft["revision"], "graph": draft["graph"]}
        headers = {"X-CSRFToken": self._csrf(), "Referer": self._base_url}
        saved = self._http.put(f"{self._room}/workflows/{workflow}/draft", json=body, headers=headers)
        assert saved.is_success, saved.text
        self.post(f"/workflows/{workflow}/publish", {"revision": saved.json()["revision"], "note": ""})

    def workflow_named(self, name: str) -> str:
        return next(str(row["id"]) for row in self.everything("/workflows") if row["name"] == name)

    def graph_of(self, workflow: str) -> Row:
        graph: Row = self.get(f"/workflows/{workflow}/draft")["graph"]
        return graph

    def start(self, workflow: str, **run_input: Any) -> str:
        started = self.post(f"/workflows/{workflow}/runs", {"input": run_input, "idempotency_key": str(uuid.uuid4())})
        return str(started["id"])

    def await_run(self, run: str, *, status: str = "") -> Row:
        """The run, once it has ended."""

        def ended() -> Row | None:
            found: Row = self.get(f"/runs/{run}")["run"]
            return found if found["status"] in FINAL else None

        found = until(f"run {run} to end", ended)
        assert not status or found["status"] == status, found
        return found

    def await_step(self, run: str, path: str, status: str) -> None:
        def there() -> bool:
            steps = self.get(f"/runs/{run}")["steps"]
            return any(step["path"] == path and step["status"] == status for step in steps)

        until(f"{path} to be {status}", there)

    def events(self, run: str) -> list[Row]:
        found: list[Row] = []
        while True:
            page = self.get(f"/runs/{run}/events", after=len(found))
            found += page["items"]
            if len(found) >= page["last"] or not page["items"]:
                return found

    def attempts(self, run: str) -> dict[str, int]:
        """How many attempts each step has had."""
        steps = self.get(f"/runs/{run}")["steps"]
        return {
            step["path"]: len(self.get(f"/runs/{run}/steps/{step['path']}")["attempts"])
            for step in steps
            if step["attempt"]
        }


def until(what: str, ask: Callable[[], Found | None]) -> Found:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := ask():
            return found
        time.sleep(0.1)
    raise AssertionError(f"Waited {PATIENCE_S:g} s for {what}, in vain.")


def node(kind: str, *, key: str = "", config: Row | None = None, at: tuple[int, int] = (0, 0), **policy: Any) -> Row:
    key = key or kind
    return {
        "id": f"n_{key}", "key": key, "name": key.replace("_", " ").capitalize(), "kind": kind, "config": config or {},
        "policy": policy, "parent": None, "position": {"x": at[0], "y": at[1]},
    }  # fmt: skip


def edge(source: str, target: str, *, port: str = "out") -> Row:
    return {"id": f"e_{source}_{target}", "source": f"n_{source}", "source_port": port, "target": f"n_{target}"}
