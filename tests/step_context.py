"""A StepContext for tests of bodies: remembers what a body says, and keeps checkpoints from one attempt to the next."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from steps.base import Done, PreviousAttempt, StepContext, StepFailure
from steps.registry import get, load_body


@dataclass
class FakeCursor:
    value: Any

    def move(self, value: Any) -> None:
        self.value = value


@dataclass
class FakeContext:
    storage_root: Path
    run_id: str = "11111111-2222-3333-4444-555555555555"
    path: str = "step"
    attempt: int = 1
    fence: int = 1
    idempotency_key: str = "key-of-this-step"
    outbound_allow: frozenset[str] = frozenset()
    run_input: Any = None
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    logged: list[str] = field(default_factory=list)
    progressed: list[tuple[float, float | None, str]] = field(default_factory=list)
    partials: list[Any] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cursors: dict[str, "FakeCursor"] = field(default_factory=dict)
    acts: dict[str, Any] = field(default_factory=dict)
    earlier_acts: dict[str, Any] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    resource: Any = None
    cancelled: bool = False
    previous: PreviousAttempt | None = None

    def next_attempt(self) -> "FakeContext":
        """What the engine gives after an attempt was lost: the same key, a higher fence, the checkpoints."""
        return FakeContext(
            storage_root=self.storage_root,
            attempt=self.attempt + 1,
            fence=self.fence + 1,
            outbound_allow=self.outbound_allow,
            run_input=self.run_input,
            connections=self.connections,
            partials=list(self.partials),
            kept=dict(self.kept),
            cursors=dict(self.cursors),
            earlier_acts=dict(self.acts),
        )

    @cached_property
    def workdir(self) -> Path:
        """Made when it is first asked for, beside the storage, where pytest clears it away."""
        return Path(tempfile.mkdtemp(prefix="work-", dir=self.storage_root.parent))

    def log(self, text: str) -> None:
        self.logged.append(text)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.progressed.append((done, total, text))

    def partial(self, value: Any) -> None:
        self.partials.append(value)

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        if key not in self.kept:
            self.kept[key] = function()
        return self.kept[key]

    def act(self, name: str, function: Callable[[], Any], **detail: Any) -> Any:
        self.acts[name] = self.earlier_acts[name] if name in self.earlier_acts else function()
        return self.acts[name]

    def cursor(self, name: str = "position", start: Any = None) -> "FakeCursor":
        return self.cursors.setdefault(name, FakeCursor(start))

    def artifact(self, path: Path | str, name: str | None = None, media_type: str | None = None) -> dict[str, Any]:
        content = (self.workdir / path).read_bytes()
        shown = name or Path(path).name
        self.artifacts[shown] = content
        return {"name": shown, "media_type": media_type, "size": len(content), "sha256": sha256(content).hexdigest()}

    @property
    def previous_partials(self) -> Sequence[Any]:
        return self.partials

    def connection(self, name: str) -> Mapping[str, Any]:
        self.asked.append(name)
        if name not in self.connections:
            raise StepFailure("connection_missing", f"There is no connection '{name}'.")
        return self.connections[name]


def run_step(ctx: StepContext, kind: str, /, **config: Any) -> Any:
    """What the child does with resolved settings: check them with the kind's model, call the body."""
    return load_body(kind)(get(kind).config.model_validate(config), ctx)


def output_of(answer: Any) -> Any:
    return answer.output if isinstance(answer, Done) else answer


def port_of(answer: Any) -> str:
    return answer.port if isinstance(answer, Done) else "out"
