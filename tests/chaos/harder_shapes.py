"""Workflows of the chaos job with all that stops, nests and asks: loops, tries, runs inside runs, forms, callbacks."""

import re
from dataclasses import dataclass
from typing import Any

from builder.graph.model import Policy
from tests.chaos.shapes import PATIENT, Shape, Shapes, after, or_else, shape

NOWHERE = "/nowhere/at/all"  # what needs it fails for good
ITEM = re.compile(r"\[(\d+)\]")
STREET = {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}}


def with_policy(**more: Any) -> Policy:
    return Policy(retry=PATIENT.retry, limit_s=PATIENT.limit_s, **more)


def tens(path: str, number: int) -> int:
    """What the step of an item gives: ten times its place, and the run's number."""
    found = ITEM.search(path)
    return int(found[1]) * 10 + number if found else number


@dataclass(frozen=True)
class HarderShapes(Shapes):
    """`inside`: the id of the workflow that a step of another one runs (see `inner`)."""

    inside: str = ""

    def all(self) -> list[Shape]:
        flow = [self.loop(), self.caught(), self.nested(), self.race(), self.limited(), self.reused(), self.child()]
        people = [self.callback(), self.form(), self.quorum(), self.blocked(), self.mended_item(), self.moment()]
        return [each for pair in zip(people, flow, strict=False) for each in pair] + flow[len(people) :]

    # ------------------------------------------------------------------ flow
    def loop(self) -> Shape:
        configs = {
            "L": {"most": 6, "first": "{{ run.input }}", "until": "{{ previous >= run.input + 4 }}"},
            "Y": self.work("{{ previous + 1 }}", pause_s=0.1),
            "Z": self.work(after("L")),
        }
        return shape("loop", "S > L:loop[Y] > Z", configs, gives=lambda number: number + 4)

    def caught(self) -> Shape:
        """A try whose body fails for good, and a step that leaves by its error port."""
        configs = {
            "A": self.first(),
            "F": self.work("never", needs=NOWHERE, pause_s=0.1),
            "B": self.work("{{ run.input }}", pause_s=0.1),
            "C": self.work("never", needs=NOWHERE),
            "D": self.work("{{ steps.B.output + 1 }}"),
            "Z": self.work(after("D")),
        }
        drawing = "S > A > T:try_block[F], T ?failed> B > C, C !> D > Z"
        policies = {"C": with_policy(on_error="port"), "D": PATIENT}
        kinds = {"D": "chaos_keyed"}
        return shape("caught", drawing, configs, policies=policies, kinds=kinds, gives=lambda number: number + 1)

    def nested(self) -> Shape:
        """Rounds in a try in each item; where a round fails for good, the item goes on by another way to the same."""
        configs = {
            "E": {"items": [0, 1, 2, 3], "window": 2},
            "L": {"most": 4, "first": "{{ item * 10 + run.input - 2 }}", "until": "{{ index == 1 }}"},
            "Y": self.work("{{ previous + 1 }}", pause_s=0.1),
            "C": self.work("{{ item * 10 + run.input }}"),
            "J": {"value": or_else("T", "steps.C.output")},
            "Z": self.work(after("E")),
        }
        drawing = "S > E[T:try_block[L:loop[Y]], T ?out> J, T ?failed> C > J] > Z"
        # a try that caught something has succeeded as well: its output is then the error
        configs["J"] = {"value": "{{ steps.C.output if steps.C.status == 'succeeded' else steps.T.output }}"}
        return shape("nested", drawing, configs, gives=lambda number: [index * 10 + number for index in range(4)])

    def race(self) -> Shape:
        """The first of three ways goes on, the others are stopped; then any of two; then two of three."""
        configs = {
            "A": self.work("a", pause_s=0.3), "B": self.work("b", pause_s=1.5), "N": self.work("n", pause_s=2.5),
            "J": {"value": "first"}, "C": self.work("c", pause_s=0.2), "F": self.work("f", pause_s=1.0),
            "K": {"value": "any"}, "Z": self.work("{{ run.input }}"),
        }  # fmt: skip
        drawing = "S > A + B + N > J, J > C + F > K > Z"
        policies = {"J": Policy(join="first"), "K": Policy(join="any")}
        return shape("race", drawing, configs, policies=policies, gives=lambda number: number)

    def limited(self) -> Shape:
        """Few at once whoever they belong to, and so many in a second."""
        configs = {
            "A": self.work("{{ run.input + 1 }}", pause_s=0.4),
            "B": self.work(after("A")),
            "Z": self.work(after("B")),
        }
        policies = {
            "A": with_policy(limit_key="few", limit_at_most=2),
            "B": with_policy(limit_key="slow", limit_at_most=5, rate_starts=4, rate_per_s=1.0),
        }
        return shape("limited", "S > A > B > Z", configs, policies=policies, gives=lambda number: number + 1)

    def reused(self) -> Shape:
        """Eight runs one after another have the same F: one of them, at least, executes it."""
        configs = {
            "A": self.first(),
            "F": self.work("{{ run.input // 200 }}", pause_s=0.3),
            "Z": self.work("{{ steps.F.output + steps.A.output }}"),
        }
        policies = {"F": with_policy(reuse="workflow", reuse_effects=True)}
        drawing = "S > A > F > Z"
        return shape("reused", drawing, configs, policies=policies, gives=lambda number: number // 200 + number + 1)

    def child(self) -> Shape:
        configs = {
            "A": self.first(),
            "R": {"workflow": self.inside, "input": "{{ run.input }}"},
            "Z": self.work(after("R")),
        }
        return shape("child", "S > A > R:run_workflow > Z", configs, gives=lambda number: number + 1)

    def inner(self) -> Shape:
        """What the child's step runs: it fails until somebody mends it."""
        configs = {
            "F": self.work("{{ run.input + 1 }}", needs=f"{self.mended}/{{{{ run.input }}}}", pause_s=0.2),
            "Y": self.work(or_else("F", "run.input + 1"), pause_s=0.2),
            "Z": {"value": after("Y")},
        }
        return shape(
            "inner", "S > F > Y > Z", configs, kinds={"Z": "output"}, policies={"Z": Policy()},
            gives=lambda number: number + 1, right=lambda path, number: number + 1,
        )  # fmt: skip

    # ------------------------------------------------------------------ people, programs and times
    def callback(self) -> Shape:
        configs = {
            "A": self.first(),
            "K": {"title": "An answer from outside"},
            "Z": self.work("{{ steps.K.output.n + steps.A.output }}"),
        }
        return shape("callback", "S > A > K:wait_for_callback > Z", configs, gives=lambda number: 2 * number + 1)

    def form(self) -> Shape:
        configs = {
            "A": self.first(),
            "Q": {"title": "Where?", "form": STREET},
            "Z": self.work("{{ steps.Q.output.street }}"),
        }
        return shape("form", "S > A > Q:form > Z", configs, gives=lambda number: f"street {number}")

    def quorum(self) -> Shape:
        configs = {
            "P": {"title": "Both?", "approvals_needed": 2, "rejections_needed": 2, "data": "{{ run.input }}"},
            "Z": self.work("{{ steps.P.output.decision }}", pause_s=0.2),
        }
        return shape("quorum", "S > P, P ?approved> Z", configs, gives=lambda number: "approved")

    def blocked(self) -> Shape:
        """What follows a failed step waits: the run goes on, and says that it waits for a person."""
        configs = {
            "A": self.first(),
            "F": self.work(after("A"), needs=f"{self.mended}/{{{{ run.input }}}}"),
            "B": self.work(or_else("F", "run.input + 1")),
            "Z": self.work(or_else("B", "run.input + 1")),
        }
        policies = {"B": with_policy(on_upstream_failure="wait"), "Z": with_policy(on_upstream_failure="wait")}
        return shape(
            "blocked", "S > A > F > B > Z", configs, policies=policies, gives=lambda number: number + 1,
            right=lambda path, number: number + 1,
        )  # fmt: skip

    def mended_item(self) -> Shape:
        """The items fail, one and all, until somebody mends them; a person mends them one by one."""
        configs = {
            "E": {"items": [0, 1, 2], "window": 2},
            "F": self.work("{{ item * 10 + run.input }}", needs=f"{self.mended}/{{{{ run.input }}}}", pause_s=0.1),
            "V": {"value": or_else("F", "item * 10 + run.input")},
            "Z": self.work(after("E")),
        }
        return shape(
            "mended_item", "S > E[F > V] > Z", configs, right=tens,
            gives=lambda number: [index * 10 + number for index in range(3)],
        )  # fmt: skip

    def moment(self) -> Shape:
        """Timers in rounds, and a moment that has passed."""
        configs = {
            "L": {"most": 2},
            "D": {"seconds": 0.4},
            "Y": self.work("{{ index }}"),
            "U": {"moment": "2026-01-01T00:00:00Z"},
            "Z": self.work(after("L")),
        }
        return shape("moment", "S > L:loop[D > Y] > U:wait_until > Z", configs, gives=lambda number: 1)
