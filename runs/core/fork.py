"""Fork: a new run that takes finished steps over from another one, and runs the rest again.

What runs again: the chosen step; what another version defines otherwise, by node hashes; what had not finished; and
whatever follows one of these. A container that keeps its own definition is not begun anew: it goes on with the items
that it had, and in each of them runs only what is left to run. `plan_fork` decides this from the rows alone, for the
preview and the act; runs/core/forking.py then begins the new run.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from builder.graph.hashing import all_hashes, definition
from builder.graph.model import Node
from builder.graph.walk import index as index_graph
from kit.errors import Conflict
from runs.core.commands import NotPossibleNow
from runs.core.definition import Definition
from runs.core.joins import lost_ways
from runs.core.plan import Effect, NodeFate, Plan, effect_of
from runs.core.rows import OUTRUN, UNKNOWN_OUTCOME, UPSTREAM_FAILED, Items, Row
from runs.core.states import OPEN, StepStatus
from steps.base import Delivery

CHOSEN = "It was chosen to run again from here."
AROUND = "The chosen step is inside it."
NEW = "It is new in this version."
NOT_BEGUN = "It had not begun."
UNFINISHED = "It had not finished."
KEPT = "It had finished, and nothing that it needs is different."
REMOVED = "It is not in this version."
CHANGED = "Its settings are different in this version."
NEEDS_CHANGED = "Something that it needs is different in this version."
BODY_CHANGED = "The steps inside it are different in this version."


class NothingToFork(Conflict):
    """Every step would be kept."""

    code = "nothing_to_fork"


@dataclass(frozen=True)
class Source:
    """The run that is forked: what it was started on, and all its step runs. Of the runs that they have started, by the
    step runs' ids: what nobody knows of in them, and by which level of delivery they acted on the outside.
    """

    definition: Definition
    rows: Sequence[Row]
    unknown_inside: Mapping[int, str] = field(default_factory=dict)
    acted_inside: Mapping[int, Delivery] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """A step run of the fork. `parent` is the source's id of its container."""

    path: str
    node: Node
    parent: int | None = None
    index: int | None = None
    source: Row | None = None  # whose copy it is, or whose items it goes on with; None: it begins anew
    items: Items | None = None  # of a container that goes on

    @property
    def is_copy(self) -> bool:
        return self.source is not None and self.items is None


@dataclass(frozen=True)
class Fork:
    places: list[Place]  # a container comes before what is inside it
    plan: Plan

    @property
    def copied(self) -> list[Row]:
        return [place.source for place in self.places if place.is_copy and place.source is not None]


@dataclass(frozen=True)
class Fate:
    """Why a step runs again. Not `is_new`: its outcome counts as before for a join that went on without it. It
    `is_chosen` where it is the step from which everything runs again, or needs that one.
    """

    reason: str
    is_new: bool = True
    goes_on: bool = False  # a container, with the items that it had
    is_chosen: bool = False


def plan_fork(source: Source, fork_on: Definition, *, target: Row | None = None, same_keys: bool = False) -> Fork:
    """What a fork copies and what it runs. `target` is the step run of the source from which everything runs again.

    Raises NothingToFork, and NotPossibleNow where the target is not in that version, or a step whose outcome nobody
    knows would run again without having been chosen.
    """
    if target is not None and target.node_id not in fork_on.nodes:
        raise NotPossibleNow(f"'{target.path}' is not in that version.", path=target.path)
    planner = _Planner(source, fork_on, target)
    if not planner.scope(None, index=None, prefix=""):
        raise NothingToFork("Every step would be kept: choose the step from which to run again.")
    if planner.undecided:
        what = ", ".join(planner.undecided)
        raise NotPossibleNow(f"Nobody knows whether {what} took effect: decide that first, or run again from there.")
    return Fork(planner.places, planner.plan(has_new_keys=not same_keys))


def changed_nodes(old: Definition, new: Definition) -> tuple[Mapping[str, str], Collection[str]]:
    """(node id -> in what way it is not as it was, the containers among them that would open the same items)."""
    if old is new:
        return {}, ()
    before, after = all_hashes(index_graph(old.graph)), all_hashes(index_graph(new.graph))
    changed = {
        node_id: _difference(old, new, node_id, has_same_head=after.heads.get(node_id) == before.heads.get(node_id, ""))
        for node_id, whole in after.whole.items()
        if node_id in before.whole and whole != before.whole[node_id]
    }
    same_heads = {node_id for node_id, head in after.heads.items() if before.heads.get(node_id) == head}
    return changed, same_heads


def _difference(old: Definition, new: Definition, node_id: str, *, has_same_head: bool) -> str:
    if has_same_head:
        return BODY_CHANGED
    if definition(old.nodes[node_id]) != definition(new.nodes[node_id]):
        return CHANGED
    return NEEDS_CHANGED


def is_finished(row: Row, *, lost: Collection[str] = ()) -> bool:
    """Whether the flow has gone on from the step, or by another way, so that nothing of it is left to do."""
    match row.status:
        case StepStatus.SUCCEEDED:
            return True
        case StepStatus.FAILED:
            return row.handled is not None or row.node_id in lost
        case StepStatus.SKIPPED:
            return row.reason != UPSTREAM_FAILED or row.node_id in lost
        case StepStatus.CANCELLED:  # unless the join that went on without it runs again
            return row.reason == OUTRUN and row.node_id in lost
        case _:
            return False


def is_unknown(row: Row) -> bool:
    """Whether it may have acted, must not act twice, and nobody knows (promise P3)."""
    return row.delivery == "at_most_once" and (
        row.status in (StepStatus.NEEDS_DECISION, StepStatus.RUNNING)
        or row.reason == UNKNOWN_OUTCOME
        or (row.reason == OUTRUN and row.attempt > 0)  # it may have run when another way was first
    )


@dataclass
class _Planner:
    source: Source
    new: Definition
    target: Row | None
    places: list[Place] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)  # node id -> why it runs again, anywhere

    def __post_init__(self) -> None:
        self.old = self.source.definition
        self.changed, self.same_heads = changed_nodes(self.old, self.new)
        self.rows: dict[tuple[int | None, int | None], dict[str, Row]] = {}
        by_id = {}
        for row in self.source.rows:
            self.rows.setdefault((row.parent_id, row.index), {})[row.node_id] = row
            by_id[row.id] = row
        self.around: set[int | None] = set()  # the containers of the target
        parent_id = self.target.parent_id if self.target else None
        while parent_id is not None:
            self.around.add(parent_id)
            parent_id = by_id[parent_id].parent_id

    # ------------------------------------------------------------------ a scope
    def scope(self, container: Row | None, *, index: int | None, prefix: str) -> bool:
        """Places the steps of the top level, or of an item. Whether something of it is left to run."""
        rows = self.rows.get((container.id if container else None, index), {})
        node_id = container.node_id if container else None
        fates = self.fates(node_id, rows)
        for node in self.new.scope_of(node_id).order:
            row, fate = rows.get(node.id), fates.get(node.id)
            place = Place(prefix + node.key, node, container.id if container else None, index)
            if fate is not None:
                self.run_again(place, row, fate)
            else:
                assert row is not None, "what has no row runs again"
                self.kept.append(place.path)
                self.copy(place, row)
        return bool(fates)

    def fates(self, container: str | None, rows: Mapping[str, Row]) -> Mapping[str, Fate]:
        """Why steps of a scope run again; the others are kept. A way that a join left behind is kept with the join."""
        lost = set(lost_ways(self.old, container, rows)) if rows and container in self.old.scopes else set()
        while True:
            found: dict[str, Fate] = {}
            scope = self.new.scope_of(container)
            for node in scope.order:
                fate = self.why(node, rows.get(node.id), found=found, lost=lost)
                if fate is not None:
                    found[node.id] = fate
            joins = [node.id for node in scope.order if node.policy.join == "first" and node.id in found]
            freed = lost.intersection(id_ for join in joins for id_ in self.new.only_to(join))
            if not freed:
                return found
            lost -= freed

    def why(self, node: Node, row: Row | None, *, found: Mapping[str, Fate], lost: Collection[str]) -> Fate | None:
        if row is None:
            return Fate(NOT_BEGUN if node.id in self.old.nodes else NEW)
        needs = self.needs(node, found)
        is_target = self.target is not None and row.id == self.target.id
        is_chosen = is_target or any(found[node_id].is_chosen for node_id in needs)
        keeps_items = row.items is not None and not needs and not is_target
        if node.id in self.changed:
            goes_on = keeps_items and node.id in self.same_heads
            return Fate(self.changed[node.id], goes_on=goes_on, is_chosen=is_chosen)
        if is_target:
            return Fate(CHOSEN, is_chosen=True)
        if needs:
            return Fate(f"It needs '{self.new.nodes[needs[0]].key}', which runs again.", is_chosen=is_chosen)
        if row.id in self.around:
            return Fate(AROUND, goes_on=keeps_items, is_chosen=True)
        if is_finished(row, lost=lost) and not self.is_open_inside(row):
            return None
        return Fate(UNFINISHED, is_new=False, goes_on=keeps_items)

    def needs(self, node: Node, found: Mapping[str, Fate]) -> list[str]:
        """Ids of the steps before it that run again. A join that did not wait for one does not need it."""
        sources = [edge.source for edge in self.new.incoming[node.id] if edge.source in found]
        return [source for source in sources if found[source].is_new or node.policy.join == "all"]

    def is_open_inside(self, row: Row) -> bool:
        return any(inner.status in OPEN for inner in self.inside(row))

    def inside(self, container: Row, *, after: int = -1) -> Iterator[Row]:
        """All step runs of a container's items (those behind `after`), at any depth."""
        if container.items is None:
            return
        for index in range(after + 1, container.items.cursor):
            for row in self.rows.get((container.id, index), {}).values():
                yield row
                yield from self.inside(row)

    # ------------------------------------------------------------------ one step
    def copy(self, place: Place, row: Row) -> None:
        self.places.append(replace(place, source=row))
        if row.items is None:
            return
        for index in range(row.items.cursor):
            for inner in self.rows.get((row.id, index), {}).values():
                node = self.new.nodes[inner.node_id]
                self.copy(Place(f"{place.path}[{index}].{node.key}", node, row.id, index), inner)

    def run_again(self, place: Place, row: Row | None, fate: Fate) -> None:
        self.again.append(place.path)
        self.reasons.setdefault(place.node.id, fate.reason)
        if row is not None and not fate.is_chosen:
            self.ask_about([row] if fate.goes_on else [row, *self.inside(row)])
        if row is not None and fate.goes_on:
            self.go_on(place, row)
        else:
            self.places.append(place)
            self.begin_body(place.node)

    def ask_about(self, rows: Iterable[Row]) -> None:
        """These would begin anew, and nobody has chosen that: who must not act twice, and may have acted, is named."""
        for row in rows:
            inside = self.source.unknown_inside.get(row.id or 0)
            if inside is not None or is_unknown(row):
                self.undecided.append(row.path if inside is None else f"{row.path} ({inside})")

    def begin_body(self, container: Node) -> None:
        for node in self.new.scope_of(container.id).order:
            reason = NEW if node.id not in self.old.nodes else f"'{container.key}' around it runs again."
            self.reasons.setdefault(node.id, reason)
            self.begin_body(node)

    def go_on(self, place: Place, row: Row) -> None:
        """A container with the items that it had. Of rounds, those after the first that has something to run are left
        out: each was made by the one before it.
        """
        assert row.items is not None
        at = len(self.places)
        self.places.append(place)
        items = replace(row.items, open=0, failed=0, reopen=[])
        for index in range(row.items.cursor):
            if self.scope(row, index=index, prefix=f"{place.path}[{index}]."):
                items.reopen.append(index)
                if items.mode == "rounds":
                    items.cursor = index + 1
                    if row.id not in self.around:
                        self.ask_about(self.inside(row, after=index))
                    break
        self.places[at] = replace(place, source=row, items=items)

    # ------------------------------------------------------------------ told
    def plan(self, *, has_new_keys: bool) -> Plan:
        return Plan(self.kept, self.again, list(self.effects(has_new_keys=has_new_keys)), list(self.nodes()))

    def effects(self, *, has_new_keys: bool) -> Iterator[Effect]:
        copied = {place.source.id for place in self.places if place.is_copy and place.source is not None}
        for row in self.source.rows:
            node = self.new.nodes.get(row.node_id)
            if node is not None and row.id not in copied:
                inside = self.source.acted_inside.get(row.id or 0)
                effect = effect_of(self.new, node, row, has_new_key=has_new_keys, inside=inside)
                yield from [effect] if effect else []

    def nodes(self) -> Iterator[NodeFate]:
        for node in self.new.graph.nodes:
            reason = self.reasons.get(node.id)
            action = "kept" if reason is None else "again" if node.id in self.old.nodes else "new"
            yield NodeFate(node.key, action, reason or KEPT)
        for node in self.old.graph.nodes:
            if node.id not in self.new.nodes:
                yield NodeFate(node.key, "removed", REMOVED)
