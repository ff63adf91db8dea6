"""Limits that people set: of a lane (the installation's), a workspace (its own) and a workflow. Permission, act, audit.

The last one who sets a limit wins, and is told what it was before. Setting what is set already changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from builder.graph.policy import queue_name
from builder.workflows.models import Workflow
from kit.errors import BadInput
from runs.core.limits import queue_limit, run_limit, workflow_limit, workspace_limit
from runs.engine.limits import set_limit
from runs.models import Limit
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.store.limit_use import LanesUse, SetLimit, WorkspaceUse, use_of_lanes, use_of_workspace
from teams import audit
from teams.access import Actor, Permission, require, require_installation, visible_to
from teams.models import Workspace

LARGEST = 100_000

Line = dict[str, Any]


class BadLane(BadInput):
    code = "bad_lane"


@dataclass(frozen=True)
class Changed:
    """`at_most` now holds (None: no limit), `before` is what held until then."""

    at_most: int | None
    before: int | None


def limit_workspace(*, actor: Actor, workspace: Workspace, at_most: int | None) -> Changed:
    """At most so many running steps of the workspace; None takes the limit away."""
    require(actor, Permission.MANAGE_WORKSPACE, workspace)
    return _change(actor, workspace_limit(workspace.id), at_most, workspace=workspace)


def limit_workflow(*, actor: Actor, workflow: Workflow, at_most: int | None) -> Changed:
    """At most so many runs of the workflow at once; None takes the limit away."""
    require(actor, Permission.EDIT, workflow.workspace)
    return _change(actor, workflow_limit(workflow.id), at_most, workspace=workflow.workspace)


def limit_lane(*, actor: Actor, lane: str, at_most: int | None) -> Changed:
    """At most so many running steps of the lane in the whole installation; None takes the limit away. Raises BadLane.

    A lane that nobody has used yet may be limited: workers and steps that name it may come later.
    """
    require_installation(actor)
    if fault := queue_name(lane):
        message = f"'{lane[:80]}' {fault}."
        raise BadLane(message, fields=[{"field": "lane", "message": message}])
    return _change(actor, queue_limit(lane), at_most, workspace=None)


def _change(actor: Actor, name: str, at_most: int | None, *, workspace: Workspace | None) -> Changed:
    with errors_as_djangos(), transaction.atomic():
        before = set_limit(
            raw_connection(), name, at_most, workspace_id=workspace.id if workspace else None, actor=actor.name
        )
        if before != at_most:
            action = "limit.remove" if at_most is None else "limit.set"
            data = {"limit": name, "from": before, "to": at_most}
            audit.record(actor, action, target=Limit(name=name), workspace=workspace, data=data)
    return Changed(at_most, before)


# ---------------------------------------------------------------------- what there is, and how much of it is used


def limits_of(actor: Actor, workspace: Workspace) -> list[Line]:
    """The workspace's own limits, those of its workflows, of the lanes (as far as its own steps use them), and the keys
    that its steps and runs bring along. Raises NotFound for a stranger.
    """
    require(actor, Permission.VIEW, workspace)
    with errors_as_djangos():
        use = use_of_workspace(raw_connection(), workspace.id)
    limits = {limit.name: limit for limit in use.limits}
    return [
        _workspace_line(workspace, limits, use),
        *_lane_lines(limits, use),
        *_workflow_lines(actor, workspace, limits=limits, use=use),
        *_key_lines(use),
        *_run_key_lines(workspace, use),
    ]


def _line(scope: str, *, limit: SetLimit | None = None, **more: Any) -> Line:
    blank: Line = {"scope": scope, "lane": None, "workflow": None, "key": None, "at_most": None, "rate": None}
    set_: Line = {"set_at": None, "set_by": None}
    if limit is not None:
        set_ = {"at_most": limit.at_most, "set_at": limit.set_at, "set_by": limit.set_by}
    return {**blank, "used": 0, "waiting": 0, **set_, **more}


def _workspace_line(workspace: Workspace, limits: dict[str, SetLimit], use: WorkspaceUse) -> Line:
    running, ready = (sum(each[place] for each in use.steps.values()) for place in (0, 1))
    return _line("workspace", limit=limits.get(workspace_limit(workspace.id)), used=running, waiting=ready)


def _lane_lines(limits: dict[str, SetLimit], use: WorkspaceUse) -> Iterator[Line]:
    limited = {name.removeprefix("queue:") for name in limits if name.startswith("queue:")}
    for lane in sorted(limited | set(use.steps)):
        running, ready = use.steps.get(lane, (0, 0))
        yield _line("lane", limit=limits.get(queue_limit(lane)), lane=lane, used=running, waiting=ready)


def _workflow_lines(
    actor: Actor, workspace: Workspace, *, limits: dict[str, SetLimit], use: WorkspaceUse
) -> Iterator[Line]:
    begun: dict[UUID, int] = {}
    for workflow_id, _, _, count in use.runs:
        begun[workflow_id] = begun.get(workflow_id, 0) + count
    wanted = [UUID(name.removeprefix("workflow:")) for name in limits if name.startswith("workflow:")]
    for workflow in visible_to(actor, Workflow.objects.filter(id__in=wanted), workspace).order_by("name", "id"):
        name = workflow_limit(workflow.id)
        ref = {"id": workflow.id, "name": workflow.name}
        used, waiting = begun.get(workflow.id, 0), use.held.get(name, 0)
        yield _line("workflow", limit=limits[name], workflow=ref, used=used, waiting=waiting)


def _key_lines(use: WorkspaceUse) -> Iterator[Line]:
    for one in use.keys:
        rate = None
        if one.rate_starts is not None and one.rate_per_s is not None:
            rate = {"starts": one.rate_starts, "per_s": one.rate_per_s, "started": one.started or 0}
        yield _line("key", key=one.key, at_most=one.at_most, rate=rate, used=one.used, waiting=one.waiting)


def _run_key_lines(workspace: Workspace, use: WorkspaceUse) -> Iterator[Line]:
    begun: dict[tuple[str, int | None], int] = {}
    for _, key, at_most, count in use.runs:
        if key is not None:
            begun[key, at_most] = begun.get((key, at_most), 0) + count
    for (key, at_most), count in sorted(begun.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        waiting = use.held.get(run_limit(workspace.id, key), 0)
        yield _line("run_key", key=key, at_most=at_most, used=count, waiting=waiting)


def lanes_of(actor: Actor) -> list[Line]:
    """Every lane that has a limit, a step or a worker, in the whole installation. Raises Forbidden."""
    require_installation(actor)
    with errors_as_djangos():
        use: LanesUse = use_of_lanes(raw_connection())
    limits = {limit.name.removeprefix("queue:"): limit for limit in use.limits}
    lanes = sorted({*limits, *use.steps, *use.workers})
    return [_lane_of_installation(lane, limits.get(lane), use) for lane in lanes]


def _lane_of_installation(lane: str, limit: SetLimit | None, use: LanesUse) -> Line:
    running, ready = use.steps.get(lane, (0, 0))
    return {
        "lane": lane, "at_most": limit and limit.at_most, "used": running, "waiting": ready,
        "workers": use.workers.get(lane, 0), "set_at": limit and limit.set_at, "set_by": limit and limit.set_by,
    }  # fmt: skip
