"""Workers whose bodies the test plays: they claim and finish with the engine's own functions; no child process runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kit.ids import new_id
from runs.core.outcomes import Outcome
from runs.engine.claim import Claimed, claim
from runs.engine.finish import Done, Finished, Request, Wish, finish, keep_values
from runs.link import Link
from runs.store import fleet
from runs.store.claim import Held
from runs.store.read import Connection
from steps.registry import all_specs

KINDS = tuple(all_specs())


@dataclass
class Hand:
    """One registered worker with a connection of its own. Close it."""

    link: Link = field(default_factory=lambda: Link(name="hand"))
    id: UUID = field(default_factory=new_id)

    def __post_init__(self) -> None:
        identity = fleet.WorkerIdentity(self.id, "nowhere", "boot", "namespace", 1, 1)
        fleet.register(self.connection, identity, queues=["default"], kinds=KINDS, threads=1)

    @property
    def connection(self) -> Connection:
        return self.link.connection

    def close(self) -> None:
        self.link.close()

    def claim(self, claim_id: UUID | None = None, *, again: bool = False, **options: Any) -> Claimed:
        """`options` are those of the engine's claim: queue, kinds, after."""
        wanted = {"queue": "default", "kinds": KINDS, **options}
        return claim(self.connection, again, worker=self.id, claim_id=claim_id or new_id(), **wanted)

    def take(self) -> Held:
        """A claim that must find something."""
        held = self.claim().held
        assert held is not None, "nothing was ready"
        return held

    def wish(self) -> Wish:
        return Wish(self.id, new_id(), ("default",), KINDS)

    def request(self, held: Held, outcome: Outcome, *, wish: Wish | None = None) -> Request:
        return Request(held, keep_values(self.connection, outcome), wish, 0.0)

    def finish(self, held: Held, outcome: Outcome, *, wish: Wish | None = None) -> Finished:
        return self.finish_all([self.request(held, outcome, wish=wish)]).results[0]

    def finish_all(self, requests: Sequence[Request], **options: Any) -> Done:
        """`options` are those of runs.engine.finish: idle, known, others."""
        return finish(self.connection, requests, **options)

    def beat(self, held: Sequence[tuple[int, int]]) -> fleet.Heard:
        return fleet.heartbeat(self.connection, worker=self.id, held=held)
