"""What was asked for during the chaos: runs, and forks of them, and what people mean to do to each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.shapes import Shape


@dataclass
class Order:
    """A run that was asked for. `run` is there once the API has said so. Its number decides what is done to it."""

    number: int
    shape: Shape
    run: str | None = None
    source: str | None = None  # of a fork: the run that it came from
    same_effects: bool = False
    version: int = 1
    depth: int = 0  # how many forks led to it

    @property
    def gives(self) -> Any:
        """What its last step must give."""
        gives = self.shape.second_gives if self.version == 2 else None
        return (gives or self.shape.gives)(self.number)

    @property
    def is_cancelled(self) -> bool:
        return self.number % 11 == 5 and self.source is None

    @property
    def stays_cancelled(self) -> bool:
        return self.number % 22 == 5 and self.source is None

    @property
    def is_paused(self) -> bool:
        return self.number % 5 == 1

    @property
    def is_forked(self) -> bool:
        """Forks of forks are forked no more."""
        if self.depth == 0:
            return self.number % 4 == 2 or self.shape.second is not None
        return self.depth == 1 and self.number % 3 == 0

    @property
    def has_breakpoints(self) -> bool:
        return self.number % 7 == 3

    def start(self) -> dict[str, Any]:
        """What the request to start it says."""
        body: dict[str, Any] = {
            "input": self.number,
            "idempotency_key": f"chaos-{self.number}",
            "version": 1,
            "priority": self.number % 5 - 2,
        }
        if self.has_breakpoints:
            body["breakpoints"] = [{"path": "Z"}, {"node": "n_A"}] if self.has_node("n_A") else [{"path": "Z"}]
        if self.number % 13 == 4:
            body["deadline_s"] = 8
        if self.number % 9 == 1:
            body["limit"] = {"key": "few runs", "at_most": 3}
        return body

    def has_node(self, node: str) -> bool:
        return any(each.id == node for each in self.shape.graph.nodes)


@dataclass
class Book:
    """All orders. Those of runs that steps started are not among them: `of` finds the one that they belong to."""

    orders: list[Order] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_run: dict[str, Order] = {}

    def add(self, order: Order) -> None:
        self.orders.append(order)
        self.note(order)

    def note(self, order: Order) -> None:
        if order.run is not None:
            self._by_run[order.run] = order

    def of(self, run: str) -> Order | None:
        """None where the answer to the start has not come yet."""
        return self._by_run.get(run)

    @property
    def started(self) -> Sequence[Order]:
        return [order for order in self.orders if order.source is None]

    @property
    def unanswered(self) -> int:
        return sum(order.run is None for order in self.orders)
