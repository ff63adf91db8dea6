"""manage.py set_limit: how many steps of a lane or a workspace, or runs of a workflow, may go on at once."""

import argparse
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from builder.workflows.models import Workflow
from kit.errors import AppError
from runs.limits import LARGEST, Changed, limit_lane, limit_workflow, limit_workspace
from runs.models import Limit
from teams.access import Actor
from teams.models import Workspace

ACTOR = Actor(kind="system", name="manage.py set_limit")


def at_most(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} should be a number from 1 to {LARGEST}, or the word none")
    return int(text)


class Command(BaseCommand):
    help = "Sets a limit, or takes it away with 'none'. Without arguments: lists what is set. The API does the same."

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
        try:
            changed = change(options["what"], options["which"], options["at_most"])
        except AppError as problem:
            raise CommandError(problem.message) from problem
        print(f"{options['what']} {options['which']}: {told(changed.at_most)}, before: {told(changed.before)}")


def told(number: int | None) -> str:
    return "no limit" if number is None else f"at most {number}"


def change(what: str, which: str, number: int | None) -> Changed:
    """Raises CommandError where there is no such thing, and what the services raise."""
    if what == "queue":
        return limit_lane(actor=ACTOR, lane=which, at_most=number)
    if what == "workspace":
        workspace = Workspace.objects.filter(slug=which).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {which!r}.")
        return limit_workspace(actor=ACTOR, workspace=workspace, at_most=number)
    try:
        workflow = Workflow.objects.filter(id=UUID(which)).first()
    except ValueError as problem:
        raise CommandError(f"{which!r} is no workflow's id.") from problem
    if workflow is None:
        raise CommandError(f"There is no workflow {which}.")
    return limit_workflow(actor=ACTOR, workflow=workflow, at_most=number)
