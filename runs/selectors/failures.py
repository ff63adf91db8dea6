"""Questions about failures: the groups of the failure inbox, and how many of their runs still stand failed."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from builder.workflows.models import Workflow
from kit.errors import NotFound
from kit.paging import encode_cursor, typed_cursor
from runs.core.states import RunStatus
from runs.models import BulkRun, Command, FailureGroup, Run, RunFailure
from teams.access import Actor, visible_to
from teams.models import Workspace

LATEST = 500  # of a group's failures are looked at: for its workflows, and for how many still stand
WORKFLOWS_SHOWN = 5
GROUPS_COUNTED = 100
OF_THE_GROUP = (
    "fingerprint", "kind", "code", "pattern", "first_at", "last_at", "seen_count", "state", "state_by", "state_at",
    "note",
)  # fmt: skip
SHOWN = ("open", "handled", "ignored", "resolved")


class FailureGroupNotFound(NotFound):
    code = "failure_group_not_found"


def group_for(actor: Actor, workspace: Workspace, fingerprint: str) -> FailureGroup:
    """Raises FailureGroupNotFound, also for one of another workspace."""
    rows = visible_to(actor, FailureGroup.objects.select_related("workspace"), workspace)
    found = rows.filter(fingerprint=fingerprint).first()
    if found is None:
        raise FailureGroupNotFound("No run of this workspace failed in this way.")
    return found


def group_page(
    actor: Actor, workspace: Workspace, *, show: str = "open", limit: int, cursor: str = ""
) -> dict[str, Any]:
    """The latest first. Of those that are 'open', 'handled' or 'ignored', as a person has said, some runs stand failed;
    of 'resolved' ones none does.
    """
    rows = _shown(actor, workspace, show)
    if cursor:
        last_at, id_ = typed_cursor(cursor, datetime, int)
        rows = rows.filter(Q(last_at__lt=last_at) | Q(last_at=last_at, id__lt=id_))
    found = list(rows.order_by("-last_at", "-id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    following = encode_cursor(page[-1].last_at.isoformat(), page[-1].id) if more else None
    return {"items": shapes_of(actor, workspace, page), "next": following}


def open_count(actor: Actor, workspace: Workspace) -> dict[str, Any]:
    """How many groups nobody has taken in hand; counting stops at GROUPS_COUNTED."""
    count = _shown(actor, workspace, "open").order_by("-last_at", "-id")[: GROUPS_COUNTED + 1].count()
    return {"count": min(count, GROUPS_COUNTED), "is_exact": count <= GROUPS_COUNTED}


def _shown(actor: Actor, workspace: Workspace, show: str) -> QuerySet[FailureGroup]:
    """Index: failure_of_group, and each run by its id."""
    failures = visible_to(actor, RunFailure.objects.all(), workspace).filter(fingerprint=OuterRef("fingerprint"))
    still = Run.objects.filter(id=OuterRef("run_id"), generation=OuterRef("generation"), status=RunStatus.FAILED)
    stands = Exists(failures.filter(Exists(still)))
    rows = visible_to(actor, FailureGroup.objects.all(), workspace)
    return rows.filter(~stands) if show == "resolved" else rows.filter(stands, state=show)


def shapes_of(actor: Actor, workspace: Workspace, groups: Sequence[FailureGroup]) -> list[dict[str, Any]]:
    failures = visible_to(actor, RunFailure.objects.all(), workspace)
    latest = {
        group.id: list(failures.filter(fingerprint=group.fingerprint).order_by("-number", "-generation")[:LATEST])
        for group in groups
    }
    wanted = {failure.workflow_id for found in latest.values() for failure in found}
    names = dict(Workflow.objects.filter(id__in=wanted).values_list("id", "name"))
    return [_shape(group, latest[group.id], names) for group in groups]


def _shape(group: FailureGroup, latest: Sequence[RunFailure], names: dict[UUID, str]) -> dict[str, Any]:
    now = _now(latest)
    standing = [each for each in latest if now.get(each.run_id) == (RunStatus.FAILED, each.generation)]
    recovered = {each.run_id for each in latest if now.get(each.run_id, ("", 0))[0] == RunStatus.SUCCEEDED}
    example = next(iter(standing or latest), None)
    workflows = Counter(failure.workflow_id for failure in latest)
    is_exact = len(latest) < LATEST
    own = (
        "fingerprint",
        "kind",
        "code",
        "pattern",
        "first_at",
        "last_at",
        "seen_count",
        "state",
        "state_by",
        "state_at",
    )
    return {
        **{name: getattr(group, name) for name in own},
        "note": group.note,
        "standing": {"count": len(standing), "is_exact": is_exact},
        "recovered": {"count": len(recovered), "is_exact": is_exact},
        "workflows": [
            {"id": id_, "name": names.get(id_, ""), "count": count}
            for id_, count in workflows.most_common(WORKFLOWS_SHOWN)
        ],
        "workflow_count": len(workflows),
        "example": example and _example(example, names),
        "resolved_by": None if standing or example is None else _resolution(example),
    }


def _now(failures: Sequence[RunFailure]) -> dict[UUID, tuple[str, int]]:
    """Status and generation of the runs that are there still."""
    rows = Run.objects.filter(id__in={failure.run_id for failure in failures})
    return {id_: (status, generation) for id_, status, generation in rows.values_list("id", "status", "generation")}


def _example(failure: RunFailure, names: dict[UUID, str]) -> dict[str, Any]:
    workflow = {"id": failure.workflow_id, "name": names.get(failure.workflow_id, "")}
    return {
        "run": {"id": failure.run_id, "number": failure.number, "workflow": workflow, "version": failure.version},
        "path": failure.path,
        "message": failure.message,
        "failed_at": failure.failed_at,
    }


def _resolution(last: RunFailure) -> dict[str, Any] | None:
    """What the first person did to the last of its runs after it had failed, and in which bulk operation."""
    done = Command.objects.filter(run_id=last.run_id, created_at__gte=last.failed_at).order_by("created_at").first()
    if done is None:
        return None
    bulk = BulkRun.objects.filter(run_id=last.run_id, command_id=done.id).values_list("bulk_id", flat=True).first()
    return {"operation": done.operation, "actor": done.actor, "at": done.created_at, "bulk": bulk}
