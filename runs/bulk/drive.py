"""Carries bulk operations out: sweepers do, any number of them.

One transaction a run: the operation's row is taken without waiting, its next run is done in it, and the result is
written. So a death in the middle leaves the run and its result as they were, and two sweepers never do one run twice. A
stop waits for at most the one run that is being done.
"""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from kit.clock import monotonic_s
from kit.errors import AppError
from kit.failpoints import failpoint
from runs.bulk.operations import OPERATIONS, Operation, Wanted
from runs.bulk.services import set_status
from runs.models import BulkOperation, BulkRun, Run
from runs.payloads import json_text
from runs.selectors.values import decoded
from runs.store.read import Connection
from teams import audit
from teams.access import SYSTEM, Actor, can, person

ANY = "SELECT EXISTS (SELECT FROM runs_bulkoperation WHERE status = 'running')"
BUDGET_S = 0.5  # of one call; then the caller looks whether it is to end

logger = logging.getLogger(__name__)


@dataclass
class _Turn:
    """What one call has passed over: runs that were locked just then, or could not be done just now."""

    deadline: float
    passed_over: set[UUID] = field(default_factory=set)


def are_any(connection: Connection) -> bool:
    """Whether any operation goes on. Index: bulk_running."""
    return connection.execute(ANY).fetchone() == (True,)


def drive(*, budget_s: float = BUDGET_S) -> int:
    """Does runs of all bulk operations that go on, until none can be done just now or the time is used up; how many it
    did.
    """
    turn = _Turn(monotonic_s() + budget_s)
    done, progressing = 0, True
    while progressing and monotonic_s() < turn.deadline:
        progressing = False
        going_on = BulkOperation.objects.filter(status="running").order_by("created_at")
        for bulk_id in going_on.values_list("id", flat=True):
            did = _do_next(bulk_id, turn)
            done += did
            progressing = progressing or did
    return done


def _do_next(bulk_id: UUID, turn: _Turn) -> bool:
    """One run of one operation; whether there was one to do."""
    trying: list[UUID] = []
    try:
        with transaction.atomic():
            bulk = _taken(bulk_id)
            if bulk is None or (item := _next(bulk, turn)) is None:
                return False
            trying.append(item.run_id)
            return _do(bulk, item, turn)
    except DatabaseError:
        logger.warning("a run of bulk operation %s could not be done just now", bulk_id, exc_info=True)
        turn.passed_over.update(trying)
        if not trying:
            raise
        return True  # the others are tried


def _taken(bulk_id: UUID) -> BulkOperation | None:
    rows = BulkOperation.objects.select_for_update(of=("self",), skip_locked=True)
    return rows.select_related("workspace", "user").filter(id=bulk_id, status="running").first()


def _next(bulk: BulkOperation, turn: _Turn) -> BulkRun | None:
    """The next run, where the pace and the permission allow one. Ends the operation where none is left."""
    left = bulk.runs.filter(status="pending")
    if not left.exists():
        set_status(bulk, "done", reason=None)
        return None
    if _is_canary_over(bulk):
        message = f"The first {bulk.canary} runs are done: look at them, then continue or stop."
        set_status(bulk, "waiting", reason={"code": "canary", "message": message})
        return None
    if not _may_act(bulk):
        _stop_for_permission(bulk)
        return None
    if not _has_room(bulk):
        return None
    rows = left.select_for_update(of=("self",), skip_locked=True).exclude(run_id__in=turn.passed_over)
    return rows.order_by("position").first()


def _is_canary_over(bulk: BulkOperation) -> bool:
    if bulk.canary is None or bulk.canary_passed:
        return False
    return bulk.runs.filter(status__in=["done", "refused"]).count() >= bulk.canary


def _has_room(bulk: BulkOperation) -> bool:
    """Whether fewer runs than the rate allows were done in the last second (or in as long as one run takes)."""
    rate = bulk.rate_per_s
    if rate is None:
        return True
    window_s = max(1.0, 1 / rate)
    recent = bulk.runs.filter(acted_at__gt=Now() - timedelta(seconds=window_s)).count()
    return recent < max(1, int(rate * window_s))


def _actor(bulk: BulkOperation) -> Actor | None:
    return person(bulk.user) if bulk.user is not None and bulk.user.is_active else None


def _may_act(bulk: BulkOperation) -> bool:
    """Asked anew for each run: whoever asked may have been removed or demoted meanwhile."""
    actor = _actor(bulk)
    return actor is not None and can(actor, OPERATIONS[bulk.operation].permission, bulk.workspace)


def _stop_for_permission(bulk: BulkOperation) -> None:
    message = f"{bulk.actor} may no longer do this here. Somebody who may can continue it."
    set_status(bulk, "stopped", reason={"code": "permission_lost", "message": message})
    audit.record(SYSTEM, "bulk.stop", target=bulk, workspace=bulk.workspace, data={"reason": "permission_lost"})


def _do(bulk: BulkOperation, item: BulkRun, turn: _Turn) -> bool:
    rows = Run.objects.select_for_update(of=("self",), skip_locked=True)
    run = rows.select_related("workspace", "workflow", "version").filter(id=item.run_id).first()
    actor = _actor(bulk)
    assert actor is not None
    if run is None:
        _pass_over(item, actor, turn)
        return True
    wanted = Wanted(actor, run, item.command_id, item.generation, decoded(bulk.request))
    _write(item, actor, _result_of(OPERATIONS[bulk.operation], wanted))
    failpoint("in_bulk")
    return True


def _pass_over(item: BulkRun, actor: Actor, turn: _Turn) -> None:
    """Somebody works on the run just now: its turn comes later. Unless it is gone."""
    turn.passed_over.add(item.run_id)
    if not Run.objects.filter(id=item.run_id).exists():
        _write(item, actor, {"status": "skipped", "code": "run_not_found", "message": "The run is gone."})


def _result_of(operation: Operation, wanted: Wanted) -> dict[str, str | None]:
    """What became of the run, as its row tells it. A refusal has changed nothing of the run."""
    status = wanted.run.status
    if status not in operation.applies_to:
        return {"status": "skipped", "code": "not_possible_now", "message": f"The run is {status}."}
    try:
        with transaction.atomic():
            result = operation.act(wanted)
    except AppError as refusal:
        return {"status": "refused", "code": refusal.code, "message": refusal.message}
    except DatabaseError:
        raise
    except Exception:  # one run that nobody can act on must not keep all others waiting
        logger.exception("run %s could not be acted on", wanted.run.id)
        return {"status": "refused", "code": "internal_error", "message": "Pawl failed here; its log tells why."}
    return {"status": "done", "result": json_text(result)}


def _write(item: BulkRun, actor: Actor, result: dict[str, str | None]) -> None:
    BulkRun.objects.filter(id=item.id).update(acted_at=Now(), actor=actor.name, **result)
