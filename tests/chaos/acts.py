"""What the people of the chaos job send: one request each, sent again as it is until somebody answers it."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from sample.crash.clients import DemoProblem, PawlClient

ACT_TIMEOUT_S = 8.0
FASTER = (409, 410)  # somebody was faster, or it went on by itself

Answer = dict[str, Any]


@dataclass
class Act:
    """`path` below the workspace, or an address of its own from /api on. `preview`: what is asked before, so that the
    act does just what was shown. `may` are the codes of refusals that are as good as an answer.
    """

    operation: str
    path: str
    body: dict[str, Any]
    then: Callable[[Answer], None] = lambda answer: None
    method: str = "POST"
    preview: dict[str, Any] | None = None
    may: Sequence[str] = ()
    who: int = 0
    shown: list[str] | None = None  # which steps run again, by the preview


def command(operation: str, path: str, /, **body: Any) -> Act:
    """An act with an id of its own."""
    return Act(operation, path, {"command_id": str(uuid.uuid4()), **body})


class Door(PawlClient):
    def try_send(self, path: str, body: dict[str, Any], *, method: str = "POST") -> httpx.Response | None:
        """None where nobody knows what became of it: it has to be sent again."""
        headers = {"X-CSRFToken": self._csrf(), "Referer": self._base_url}
        where = path if path.startswith("/api/") else self._room + path
        try:
            answer = self._http.request(method, where, json=body, headers=headers, timeout=ACT_TIMEOUT_S)
        except httpx.TransportError:
            return None
        return None if answer.status_code >= 500 or answer.status_code == 429 else answer


@dataclass
class Desk:
    """The acts that are under way, by name. `done`: how many of each operation were answered with success."""

    doors: Sequence[Door]
    problems: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._acts: dict[str, Act] = {}
        self._over: set[str] = set()  # what succeeded under its name is not wanted again
        self._lock = threading.Lock()

    @property
    def is_empty(self) -> bool:
        with self._lock:
            return not self._acts

    def is_free(self, name: str) -> bool:
        return name not in self._acts and name not in self._over

    def want(self, name: str, act: Act) -> bool:
        """Whether it was not wanted, or done, before."""
        with self._lock:
            if not self.is_free(name):
                return False
            self._acts[name] = act
            return True

    def send_all(self, *, is_over: Callable[[], bool]) -> None:
        with self._lock:
            due = list(self._acts.items())
        for name, act in due:
            if is_over():
                return
            if not self._is_shown(act):
                continue
            answer = self.doors[act.who].try_send(act.path, act.body, method=act.method)
            if answer is not None:
                self._end(name, act, answer)

    def _is_shown(self, act: Act) -> bool:
        """Asks for the preview, once; whether it is known."""
        if act.preview is None or act.shown is not None:
            return True
        run = act.path.split("/steps/")[0].removesuffix("/resume")
        answer = self.doors[act.who].try_send(f"{run}/preview", act.preview)
        if answer is None:
            return False
        if answer.is_success and (found := answer.json())["allowed"]:
            act.shown, act.body["plan"], act.body["generation"] = found["again"], found["plan"], found["generation"]
        else:
            act.preview = None  # what it would say, the act says itself
        return True

    def _end(self, name: str, act: Act, answer: httpx.Response) -> None:
        if answer.is_success:
            self._succeed(name, act, answer.json())
        elif answer.status_code not in FASTER and answer.json().get("code") not in act.may:
            self.problems.append(f"{act.path} answered {answer.status_code}: {answer.text[:300]}")
        with self._lock:
            del self._acts[name]

    def _succeed(self, name: str, act: Act, answer: Answer) -> None:
        self._over.add(name)
        self.done[act.operation] += 1
        if act.shown is not None and sorted(answer["again"]) != sorted(act.shown):
            self.problems.append(f"{act.path} did {answer['again']}, its preview had shown {act.shown}")
        act.then(answer)


def signed_in(url: str, *, workspace: str, email: str, password: str) -> Door:
    """Raises DemoProblem."""
    door = Door(url, workspace=workspace)
    if not door.is_up():
        raise DemoProblem(f"{url} does not answer.")
    door.sign_in(email, password)
    return door
