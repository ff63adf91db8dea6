"""Which runs are meant: the filters of the runs list, which a bulk operation and a count take as well."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from runs.core.questions import FOR_PEOPLE
from runs.core.states import FINAL_RUNS, RunStatus
from runs.models import Run, RunFailure, RunLabel, StepRun

OPEN_RUNS = [status.value for status in RunStatus if status not in FINAL_RUNS]


@dataclass(frozen=True)
class Filters:
    """A field that is empty asks for nothing. `failed_step`, `error` and `fingerprint` are of the failure that a run
    stands at now: one that was resumed since does not fit.
    """

    status: Sequence[str] = ()
    workflow: UUID | None = None
    version: int | None = None
    trigger: Sequence[str] = ()
    starter: str = ""
    started_after: datetime | None = None
    started_before: datetime | None = None
    longer_than_s: float | None = None  # from the start to the end, or to now
    shorter_than_s: float | None = None
    failed_step: str = ""  # a step's key
    error: str = ""  # a part of its message, or its code
    fingerprint: str = ""
    label: Sequence[str] = ()  # all of them
    q: str = ""
    forked_from: UUID | None = None
    waits: str = ""  # 'person': open runs of which a step waits for a person; 'nobody': the other open ones

    @property
    def asked(self) -> frozenset[str]:
        """The names of those that ask for something."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name) not in (None, "", (), []))

    @property
    def of_failure(self) -> bool:
        return bool(self.failed_step or self.error or self.fingerprint)


def filtered(rows: QuerySet[Run], filters: Filters) -> QuerySet[Run]:
    """Every filter, whatever it costs. Lists ask it of a few runs at a time (runs.selectors.lists)."""
    if filters.status:
        rows = rows.filter(status__in=filters.status)
    if filters.workflow:
        rows = rows.filter(workflow_id=filters.workflow)
    if filters.version:
        rows = rows.filter(version__number=filters.version)
    if filters.trigger:
        rows = rows.filter(trigger__in=filters.trigger)
    if filters.starter:
        rows = rows.filter(actor=filters.starter)
    if filters.forked_from:
        rows = rows.filter(forked_from_id=filters.forked_from)
    for label in filters.label:
        rows = rows.filter(Exists(RunLabel.objects.filter(run_id=OuterRef("pk"), label=label)))
    if filters.of_failure:
        stands_at = RunFailure.objects.filter(run_id=OuterRef("pk"), generation=OuterRef("generation"))
        rows = rows.filter(Exists(failures(stands_at, filters)), status=RunStatus.FAILED)
    if filters.waits:
        rows = _by_waits(rows, person=filters.waits == "person")
    return _by_text(_by_time(rows, filters), filters.q)


def failures(rows: QuerySet[RunFailure], filters: Filters) -> QuerySet[RunFailure]:
    if filters.fingerprint:
        rows = rows.filter(fingerprint=filters.fingerprint)
    if filters.failed_step:
        rows = rows.filter(step_key=filters.failed_step)
    if filters.error:
        rows = rows.filter(Q(message__icontains=filters.error) | Q(code__icontains=filters.error))
    return rows


def _by_time(rows: QuerySet[Run], filters: Filters) -> QuerySet[Run]:
    if filters.started_after:
        rows = rows.filter(created_at__gte=filters.started_after)
    if filters.started_before:
        rows = rows.filter(created_at__lt=filters.started_before)
    took = ExpressionWrapper(Coalesce(F("finished_at"), Now()), output_field=DateTimeField())
    if filters.longer_than_s is not None:
        rows = rows.filter(created_at__lte=took - timedelta(seconds=filters.longer_than_s))
    if filters.shorter_than_s is not None:
        rows = rows.filter(created_at__gt=took - timedelta(seconds=filters.shorter_than_s))
    return rows


def number_in(q: str) -> int | None:
    """A run's number, where the text is one."""
    text = q.strip().lstrip("#")
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _by_text(rows: QuerySet[Run], q: str) -> QuerySet[Run]:
    text = q.strip().lstrip("#")
    if not text:
        return rows
    named = Q(workflow__name__icontains=text)
    number = number_in(q)
    return rows.filter(named if number is None else named | Q(number=number))


def _by_waits(rows: QuerySet[Run], *, person: bool) -> QuerySet[Run]:
    """Open runs that do, or do not, wait for a person. The counter says of most that nothing of theirs waits at all.
    Index: step_run_asks.
    """
    asks = Q(status__in=["needs_decision", "blocked"]) | Q(status="waiting", wait_kind__in=FOR_PEOPLE)
    waiting = Q(waiting_count__gt=0) & Exists(StepRun.objects.filter(asks, run_id=OuterRef("pk")))
    return rows.filter(status__in=OPEN_RUNS).filter(waiting if person else ~waiting)
