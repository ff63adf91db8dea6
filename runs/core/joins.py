"""What several edges into one node mean: which of them must be live, and what becomes of the others.

Join rule: a node waits until every edge into it is settled, then runs once if at least one is live, and is skipped if
none is. Its policy may ask for less: `any` (one live edge), `first` (the same, and the others are stopped), `count` (so
many). Such a join goes on as soon as it has what it needs, and never starts again: what comes later no longer matters.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum, auto

from builder.graph.model import Edge, Policy
from runs.core.definition import Definition
from runs.core.rows import NOT_TAKEN, OUTRUN, UPSTREAM_FAILED, Row
from runs.core.states import OPEN, StepStatus, is_settled
from steps.base import ERROR_PORT

OUT_PORT = "out"


class EdgeState(Enum):
    UNSETTLED = auto()
    LIVE = auto()
    DEAD = auto()
    BROKEN = auto()  # what it comes from failed, or was skipped because something failed


class Verdict(Enum):
    WAITS = auto()
    RUNS = auto()
    NOT_TAKEN = auto()
    FAILURE = auto()  # something that it needs failed: its on_upstream_failure says what follows


def is_awaited(source: Row) -> bool:
    """Whether what follows the step cannot be decided yet. Of one that was outrun nothing more comes."""
    return not is_settled(source.status) and not (source.status is StepStatus.CANCELLED and source.reason == OUTRUN)


def edge_state(edge: Edge, source: Row) -> EdgeState:
    if is_awaited(source):
        return EdgeState.UNSETTLED
    if source.status is StepStatus.CANCELLED:
        return EdgeState.DEAD
    if source.status is StepStatus.SUCCEEDED:
        return EdgeState.LIVE if (source.port or "out") == edge.source_port else EdgeState.DEAD
    if source.status is StepStatus.SKIPPED:
        states = {UPSTREAM_FAILED: EdgeState.BROKEN, NOT_TAKEN: EdgeState.DEAD}
        return states.get(source.reason or "") or _live_from(OUT_PORT, edge)  # else: skipped by a person
    if source.handled == "fallback":
        return _live_from(OUT_PORT, edge)
    if source.handled == "port":
        return _live_from(ERROR_PORT, edge)
    return EdgeState.BROKEN


def _live_from(port: str, edge: Edge) -> EdgeState:
    """A step that did not end by itself chose no port of its own: an unanswered question is not approved."""
    return EdgeState.LIVE if edge.source_port == port else EdgeState.DEAD


def verdict(policy: Policy, states: Sequence[EdgeState]) -> Verdict:
    """Of a pending node, from the states of the edges into it."""
    is_race = policy.join != "all"
    needed = (policy.join_count or 1) if policy.join == "count" else 1
    live, unsettled = states.count(EdgeState.LIVE), states.count(EdgeState.UNSETTLED)
    if not states or (is_race and live >= needed):
        return Verdict.RUNS
    if unsettled:  # also where there cannot be enough any more: whether something failed is not known yet
        return Verdict.WAITS
    if EdgeState.BROKEN in states:
        return Verdict.FAILURE
    return Verdict.RUNS if live >= needed else Verdict.NOT_TAKEN


def losers(definition: Definition, node_id: str, rows: Mapping[str, Row]) -> list[Row]:
    """What is still open of the ways that lead to the node and nowhere else."""
    return [rows[each] for each in definition.only_to(node_id) if rows[each].status in OPEN]


def made_up_for(definition: Definition, container: str | None, rows: Mapping[str, Row]) -> Collection[str]:
    """Ids of the nodes whose failure makes nothing fail: each way from them leads to a join that went on without it."""
    scope = definition.scope_of(container)
    if not scope.has_races:
        return ()
    gone_on = {node.id for node in scope.order if node.policy.join != "all" and has_run(rows[node.id])}
    found: set[str] = set()
    for node in reversed(scope.order):
        edges = definition.outgoing[node.id]
        if edges and all(edge.target in gone_on or edge.target in found for edge in edges):
            found.add(node.id)
    return found


def lost_ways(definition: Definition, container: str | None, rows: Mapping[str, Row]) -> set[str]:
    """Ids of the nodes that lead only to a join which has taken the first: nothing of them runs any more."""
    scope = definition.scope_of(container)
    races = [node.id for node in scope.order if node.policy.join == "first"] if scope.has_races else []
    return {id_ for race in races if has_run(rows[race]) for id_ in definition.only_to(race)}


def has_run(row: Row) -> bool:
    """Whether the step began, or is about to, however it ended."""
    match row.status:
        case StepStatus.PENDING | StepStatus.BLOCKED | StepStatus.SKIPPED:
            return False
        case StepStatus.CANCELLED:
            return row.attempt > 0
        case StepStatus.FAILED:  # unless its policy failed it because a step before it had failed
            return row.error is None or row.error.get("code") != UPSTREAM_FAILED
        case _:
            return True
