"""manage.py set_limit: how many steps of a lane or a workspace, or runs of a workflow, may go on at once."""

import argparse
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from builder.graph.policy import queue_name
from builder.workflows.models import Workflow
from runs.core.limits import queue_limit, workflow_limit, workspace_limit
from runs.engine.limits import set_limit
from runs.link import Link
from runs.models import Limit
from teams.models import Workspace

LARGEST = 100_000
ACTOR = "manage.py set_limit"


def at_most(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} should be a number from 1 to {LARGEST}, or the word none")
    return int(text)


class Command(BaseCommand):
    help = "Sets a limit, or takes it away with 'none'. Without arguments: lists what is set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", nargs="?", choices=["queue", "workspace", "workflow"])
        parser.add_argument("which", nargs="?", help="the lane's name, the workspace's slug, the workflow's id")
        parser.add_argument("at_most", nargs="?", type=at_most, help="how many at once, or none", default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] is None:
            for limit in Limit.objects.order_by("name"):
                print(f"{limit.name}: at most {limit.at_most}, set by {limit.set_by} at {limit.set_at:%Y-%m-%d %H:%M}")
            return
        if options["which"] is None or options["at_most"] == 0:
            raise CommandError("Say which one, and how many: set_limit queue browser 2")
        name, workspace_id = named(options["what"], options["which"])
        link = Link(name="set_limit")
        try:
            set_limit(link.connection, name, options["at_most"], workspace_id=workspace_id, actor=ACTOR)
        finally:
            link.close()
        print(f"{name}: {'no limit' if options['at_most'] is None else 'at most ' + str(options['at_most'])}")


def named(what: str, which: str) -> tuple[str, UUID | None]:
    """The limit's name, and whose it is. Raises CommandError where there is no such thing."""
    if what == "queue":
        if fault := queue_name(which):
            raise CommandError(f"{which!r} {fault}.")
        return queue_limit(which), None
    if what == "workspace":
        workspace = Workspace.objects.filter(slug=which).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {which!r}.")
        return workspace_limit(workspace.id), workspace.id
    try:
        workflow = Workflow.objects.filter(id=UUID(which)).first()
    except ValueError as problem:
        raise CommandError(f"{which!r} is no workflow's id.") from problem
    if workflow is None:
        raise CommandError(f"There is no workflow {which}.")
    return workflow_limit(workflow.id), workflow.workspace_id
