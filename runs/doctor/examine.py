"""All checks of a workflow's draft, by one look. Nothing is changed."""

from typing import Any

from builder.connections.selectors import connections_of, kinds_in, shown_settings
from builder.graph.model import Graph
from builder.workflows.checking import problems_of, runnable
from builder.workflows.documents import graph_of
from builder.workflows.models import Draft, Workflow
from builder.workflows.selectors import live_version
from kit.errors import AppError
from runs.doctor.findings import (
    Check,
    connections_wanted,
    of_approvers,
    of_changes,
    of_connections,
    of_problems,
    questions_of,
    worst,
)
from runs.doctor.triggers import of_schedules, of_triggers
from runs.models import Run, Trigger
from steps import registry
from teams.access import PERMISSIONS_OF, SYSTEM, Permission, visible_to
from teams.models import Membership, Role, Workspace

OPEN = ("running", "paused", "cancelling")
MOST_TRIGGERS = 50  # looked at one by one


def examine(workflow: Workflow) -> dict[str, Any]:
    """{revision, state, checks}. `workflow_for`, which gave the workflow, asked who may see it."""
    draft = Draft.objects.get(workflow_id=workflow.id)
    checks = _checks(workflow, draft, runnable(graph_of(draft.graph)))
    return {"revision": draft.revision, "state": worst([check.state for check in checks]), "checks": checks}


def _checks(workflow: Workflow, draft: Draft, graph: Graph) -> list[Check]:
    workspace, specs = workflow.workspace, registry.all_specs()
    triggers = list(
        Trigger.objects.filter(workflow_id=workflow.id).select_related("source").order_by("created_at")[:MOST_TRIGGERS]
    )
    return [
        of_problems(problems_of(graph, workspace, workflow_id=workflow.id)),
        _changes(workflow, draft),
        of_triggers(triggers, graph, specs),
        of_schedules(triggers),
        _connections(workspace, graph),
        of_approvers(questions_of(graph, specs), people_who_answer(workspace)),
    ]


def _changes(workflow: Workflow, draft: Draft) -> Check:
    live = live_version(workflow)
    if live is None:
        return of_changes(None, is_same=False, open_runs=0)
    open_runs = Run.objects.filter(workflow_id=workflow.id, status__in=OPEN).count()
    return of_changes(live.number, is_same=live.graph == draft.graph, open_runs=open_runs)


def _connections(workspace: Workspace, graph: Graph) -> Check:
    wanted, later = connections_wanted(graph, registry.all_specs())
    unreadable: dict[str, str] = {}
    for connection in connections_of(SYSTEM, workspace).filter(name__in=[each.name for each in wanted]):
        try:
            shown_settings(connection)
        except AppError as fault:
            unreadable[connection.name] = fault.message
    return of_connections(wanted, later, kinds=kinds_in(workspace), unreadable=unreadable)


def people_who_answer(workspace: Workspace) -> dict[str, str]:
    """name -> role of each member who may answer questions, and can sign in. An e-mail tells two of one name apart."""
    may = [role for role, held in PERMISSIONS_OF.items() if Permission.APPROVE in held]
    members = visible_to(SYSTEM, Membership.objects.filter(role__in=may, user__is_active=True), workspace)
    found: dict[str, str] = {}
    for row in members.select_related("user").order_by("created_at"):
        name = str(row.user)
        found[name if name not in found else f"{name} ({row.user.email})"] = Role(row.role).value
    return found
