"""The workflows that run during the chaos, and what each must give in the end whatever happens. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from builder.graph.model import Graph, Policy, Retry
from tests.graphs import draw

KEYED, ONCE = "chaos_keyed", "chaos_at_most_once"
LAST = "Z"  # the step whose output is compared in the end
PATIENT = Policy(retry=Retry(attempts=6, first_delay_s=0.2, max_delay_s=1.0), limit_s=40.0)
ITEMS = list(range(8))

Configs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Shape:
    """A workflow; `gives` is the output of its last step for the run's number."""

    name: str
    graph: Graph
    gives: Callable[[int], Any]
    right: Callable[[str, int], Any] | None = None  # of a step by its path: what a person may give in its place
    second: Graph | None = None  # another version, to fork on
    second_gives: Callable[[int], Any] | None = None


def after(key: str) -> str:
    return f"{{{{ steps.{key}.output }}}}"


def or_else(key: str, otherwise: str) -> str:
    """The step's output, or what it would have been where a person went past it."""
    return f"{{{{ steps.{key}.output if steps.{key}.status == 'succeeded' else {otherwise} }}}}"


def shape(
    name: str, drawing: str, configs: Configs, *, policies: Mapping[str, Policy] | None = None,
    kinds: Mapping[str, str] | None = None, **more: Any,
) -> Shape:  # fmt: skip
    """A to F, Y and Z leave traces and are keyed, N leaves traces and is at most once; the others only compute."""
    known = dict.fromkeys("ABCFYZ", KEYED) | {"N": ONCE} | dict(kinds or {})
    patient = dict.fromkeys("ABCFYZN", PATIENT) | dict(policies or {})
    return Shape(name, draw(drawing, kinds=known, plain="pass_through", configs=configs, policies=patient), **more)


@dataclass(frozen=True)
class Shapes:
    """`outside`: the file of traces. `mended`: a folder in which a file named like the run's number mends its run."""

    outside: str
    mended: str

    def work(self, value: str, **more: Any) -> dict[str, Any]:
        return {"outside": self.outside, "value": value, **more}

    def first(self) -> dict[str, Any]:
        return self.work("{{ run.input + 1 }}", pause_s=0.3)

    def all(self) -> list[Shape]:
        """Some of them twice: they come more often. With the harder ones they are 23, a prime: every rule that goes by
        a run's number meets each of them.
        """
        found = [self.chain(), self.join(), self.branch(), self.map(), self.retries(), self.resumed(), self.waits()]
        return [*found, self.at_most_once(), self.resumed(), self.at_most_once()]

    def chain(self) -> Shape:
        """Its second version differs from C on."""
        configs = {
            "A": self.first(),
            "B": self.work("{{ steps.A.output * 2 }}", pause_s=0.2),
            "C": self.work("{{ steps.B.output + 1 }}", pause_s=0.5),
            "Z": self.work(after("C")),
        }
        drawing = "S > A > B > C > Z"
        later = {**configs, "C": self.work("{{ steps.B.output + 100 }}", pause_s=0.1)}
        second = shape("chain", drawing, later, gives=lambda number: (number + 1) * 2 + 100)
        return shape(
            "chain", drawing, configs, gives=lambda number: (number + 1) * 2 + 1, second=second.graph,
            second_gives=second.gives,
        )  # fmt: skip

    def join(self) -> Shape:
        configs = {
            "A": self.first(),
            "B": self.work("b", pause_s=0.8),
            "C": self.work("c"),
            "F": self.work("f", fails=[1]),
            "J": {"value": [after(key) for key in "ABCF"]},
            "Z": self.work(after("J")),
        }
        return shape("join", "S > A + B + C + F > J > Z", configs, gives=lambda number: [number + 1, "b", "c", "f"])

    def branch(self) -> Shape:
        configs = {
            "A": self.first(),
            "I": {"condition": "{{ run.input % 2 == 0 }}"},
            "B": self.work("even", pause_s=0.3),
            "C": self.work("odd"),
            "J": {"value": "{{ steps.B.output if steps.B.status == 'succeeded' else steps.C.output }}"},
            "Z": self.work(after("J")),
        }
        drawing = "S > A > I, I ?true> B > J, I ?false> C > J, J > Z"
        return shape("branch", drawing, configs, gives=lambda number: "odd" if number % 2 else "even")

    def map(self) -> Shape:
        configs = {
            "E": {"items": ITEMS, "window": 3},
            "Y": self.work("{{ item * 10 + run.input }}", pause_s=0.2),
            "V": {"value": after("Y")},
            "Z": self.work(after("E")),
        }
        return shape("map", "S > E[Y > V] > Z", configs, gives=lambda number: [index * 10 + number for index in ITEMS])

    def retries(self) -> Shape:
        configs = {
            "A": self.first(),
            "F": self.work(after("A"), fails=[1, 2], pause_s=0.1),
            "Z": self.work(after("F")),
        }
        return shape("retries", "S > A > F > Z", configs, gives=lambda number: number + 1)

    def resumed(self) -> Shape:
        configs = {
            "A": self.first(),
            "F": self.work(after("A"), needs=f"{self.mended}/{{{{ run.input }}}}", pause_s=0.1),
            "B": self.work(or_else("F", "run.input + 1")),
            "Z": self.work(after("B")),
        }
        return shape(
            "resumed",
            "S > A > F > B > Z",
            configs,
            gives=lambda number: number + 1,
            right=lambda path, number: number + 1,
        )

    def waits(self) -> Shape:
        configs = {
            "D": {"seconds": 0.5},
            "A": self.first(),
            "P": {"title": "Go on?"},
            "B": self.work("{{ steps.P.output.decision }}", pause_s=0.2),
            "Z": self.work(after("B")),
        }
        return shape("waits", "S > D > A > P, P ?approved> B > Z", configs, gives=lambda number: "approved")

    def at_most_once(self) -> Shape:
        configs = {
            "A": self.first(),
            "N": self.work(after("A"), pause_s=1.2),
            "Z": self.work(or_else("N", "run.input + 1")),
        }
        return shape("at_most_once", "S > A > N > Z", configs, gives=lambda number: number + 1)
