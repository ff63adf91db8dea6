"""Pages of the runs list, and counts of it, that cost the same beside a million runs as beside a hundred.

One filter gives an index that is read newest first: its runs are the candidates. The other filters are asked of those,
a few at a time, and of no more than WINDOW: an answer that stopped there says so, and its cursor goes on from there.
Times are turned into numbers first, because runs are numbered in the order in which they begin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, repeat
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from builder.workflows.models import Workflow
from kit.paging import encode_cursor, typed_cursor
from runs.models import Run, RunFailure, RunLabel
from runs.selectors.filters import OPEN_RUNS, Filters, filtered, number_in
from runs.selectors.runs import rows_of
from teams.access import Actor, visible_to
from teams.models import Workspace

WINDOW = 20_000  # candidates that one answer looks at
CHUNKS = (500, 1_500, 4_000)  # the first ones are small: most pages are full soon
COUNT_LIMIT = 1_000
NAMED_LIMIT = 20  # workflows of which a text is a part, before their runs are no longer read one by one
# Numbers and starts are in the same order but for runs that begin together.
TOGETHER, APART = 100, timedelta(minutes=1)
NO_NUMBER = -1
RUNS = Run.objects.select_related("workflow", "version", "forked_from")

Candidate = tuple[int, UUID]  # number, id


@dataclass(frozen=True)
class Source:
    """Rows that have a run's number, each read newest first by an index of its own; `serves` are the filters that they
    fulfil by themselves.
    """

    rows: Sequence[QuerySet[Any]]
    serves: frozenset[str] = frozenset()


@dataclass
class Look:
    """One pass over the candidates. `stopped_at` is the last one where WINDOW was used up."""

    actor: Actor
    workspace: Workspace
    filters: Filters
    before: int | None = None
    stopped_at: Candidate | None = None
    _bounds: dict[str, int] = field(default_factory=dict)

    def chunks(self, *, first: int) -> Iterator[list[Candidate]]:
        """Of `first` candidates where the index alone answers, of more and more where each has to be looked at."""
        source = source_of(self.actor, self.workspace, self.filters)
        if not source.rows or not self._find_bounds():
            return
        is_served = self.filters.asked <= source.serves | {"started_after", "started_before"}
        left = WINDOW
        for wanted in chain((first,) if is_served else (), CHUNKS, repeat(CHUNKS[-1])):
            size = min(wanted, left)
            found = self._candidates(source, size)
            if found:
                yield found
            if len(found) < size:
                return
            self.before, left = found[-1][0], left - size
            if not left:
                self.stopped_at = found[-1]
                return

    def fitting(self, chunk: list[Candidate]) -> QuerySet[Run]:
        """Those that all filters find, the newest first."""
        rows = RUNS.filter(id__in=[id_ for _, id_ in chunk])  # of the workspace, as their source is
        by_number = (F("number") + 0).desc()  # no index of numbers: it would be walked for what does not fit
        return filtered(rows, self.filters).order_by(by_number)

    def _candidates(self, source: Source, size: int) -> list[Candidate]:
        before = {} if self.before is None else {"number__lt": self.before}
        each = [
            rows.filter(**before, **self._bounds).order_by("-number").values_list("number", _id_of(rows))[:size]
            for rows in source.rows
        ]
        found = each[0] if len(each) == 1 else each[0].union(*each[1:]).order_by("-number")[:size]
        return list(found)

    def _find_bounds(self) -> bool:
        """Whether any run can lie between the two times. Index: run_measured."""
        runs = visible_to(self.actor, Run.objects.all(), self.workspace)
        after, before = self.filters.started_after, self.filters.started_before
        if after and not self._keep(
            "number__gte", self._near(runs.filter(created_at__gte=after - APART), "created_at")
        ):
            return False
        return not before or self._keep(
            "number__lte", self._near(runs.filter(created_at__lt=before + APART), "-created_at")
        )

    @staticmethod
    def _near(rows: QuerySet[Run], order: str) -> list[int]:
        return list(rows.order_by(order).values_list("number", flat=True)[:TOGETHER])

    def _keep(self, name: str, numbers: list[int]) -> bool:
        if numbers:
            self._bounds[name] = min(numbers) if name == "number__gte" else max(numbers)
        return bool(numbers)


def run_page(actor: Actor, workspace: Workspace, *, filters: Filters, limit: int, cursor: str = "") -> dict[str, Any]:
    """The newest first, by number: a keyset, so that new runs never shift a page. `looked_back_to` is set where a page
    is not full because enough runs were looked at: when the last of them began; `next` goes on from there.
    """
    before = typed_cursor(cursor, int)[0] if cursor else None
    look = Look(actor, workspace, filters, before)
    found: list[Run] = []
    for chunk in look.chunks(first=limit + 1):
        found += look.fitting(chunk)[: limit + 1 - len(found)]
        if len(found) > limit:
            page = found[:limit]
            return {"items": rows_of(page), "next": encode_cursor(page[-1].number), "looked_back_to": None}
    if look.stopped_at is None:
        return {"items": rows_of(found), "next": None, "looked_back_to": None}
    number, id_ = look.stopped_at
    return {"items": rows_of(found), "next": encode_cursor(number), "looked_back_to": _began_at(id_)}


def run_count(actor: Actor, workspace: Workspace, *, filters: Filters) -> dict[str, Any]:
    """How many runs fit, as far as was looked: `is_exact` only where all were."""
    look = Look(actor, workspace, filters)
    count = 0
    for chunk in look.chunks(first=COUNT_LIMIT + 1):
        count += look.fitting(chunk).count()
        if count > COUNT_LIMIT:
            return {"count": COUNT_LIMIT, "is_exact": False}
    return {"count": count, "is_exact": look.stopped_at is None}


def source_of(actor: Actor, workspace: Workspace, filters: Filters) -> Source:
    """Of the filters' indexes the one that is likely to have the fewest runs."""
    runs = visible_to(actor, Run.objects.all(), workspace)
    if filters.forked_from:
        return Source([runs.filter(forked_from_id=filters.forked_from)], frozenset({"forked_from"}))
    if filters.q.strip().lstrip("#") and (named := _named(actor, workspace, filters.q)) is not None:
        return Source([runs.filter(workflow_id=each) for each in named] + _numbered(runs, filters.q), frozenset({"q"}))
    if filters.label:
        labels = visible_to(actor, RunLabel.objects.all(), workspace).filter(label=filters.label[0])
        return Source([labels], frozenset({"label"} if len(filters.label) == 1 else ()))
    if filters.of_failure:
        return Source([_failed(visible_to(actor, RunFailure.objects.all(), workspace), filters)])
    statuses = OPEN_RUNS if filters.waits else filters.status
    if statuses and not (filters.workflow and "succeeded" in statuses):
        return Source([runs.filter(status=each) for each in sorted(set(statuses))], frozenset({"status"}))
    if filters.workflow:
        return Source([runs.filter(workflow_id=filters.workflow)], frozenset({"workflow"}))
    return Source([runs])


def _named(actor: Actor, workspace: Workspace, q: str) -> list[UUID] | None:
    """The workflows of whose name it is a part; None where they are too many."""
    rows = visible_to(actor, Workflow.objects.all(), workspace).filter(name__icontains=q.strip().lstrip("#"))
    found = list(rows.values_list("id", flat=True)[: NAMED_LIMIT + 1])
    return found if len(found) <= NAMED_LIMIT else None


def _numbered(runs: QuerySet[Run], q: str) -> list[QuerySet[Run]]:
    number = number_in(q)
    return [] if number is None else [runs.filter(number=number)]


def _failed(rows: QuerySet[RunFailure], filters: Filters) -> QuerySet[RunFailure]:
    """By the best of its indexes; the rest is asked of each run."""
    if filters.fingerprint:
        return rows.filter(fingerprint=filters.fingerprint)
    return rows.filter(step_key=filters.failed_step) if filters.failed_step else rows


def _id_of(rows: QuerySet[Any]) -> str:
    return "id" if rows.model is Run else "run_id"


def _began_at(run_id: UUID) -> datetime | None:
    return Run.objects.filter(id=run_id).values_list("created_at", flat=True).first()
