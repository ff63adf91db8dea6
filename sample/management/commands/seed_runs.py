"""manage.py seed_runs WORKSPACE: many runs that ended, to see what pages look like beside years of work."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sample.many_runs import forget_many_runs, make_many_runs
from teams.access import SYSTEM
from teams.models import User, Workspace
from teams.services import create_workspace

MOST = 10_000_000


class Command(BaseCommand):
    help = "Makes a workspace of runs that ended long ago, for benchmarks and pictures. Never where people work."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("workspace", help="The slug of a workspace: a new one, or one that this command has made.")
        parser.add_argument("--runs", type=int, default=1_000_000)
        parser.add_argument("--owner", help="The e-mail address of whoever is to see a new workspace.")
        parser.add_argument("--forget", action="store_true", help="Takes the workspace's runs away instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is not None and not workspace.name.startswith("Seeded"):
            raise CommandError(f"'{workspace.slug}' is not a workspace that this command has made.")
        if options["forget"]:
            if workspace is None:
                raise CommandError("There is no such workspace.")
            forget_many_runs(workspace)
            return
        if not 1 <= options["runs"] <= MOST:
            raise CommandError(f"--runs takes 1 to {MOST}.")
        make_many_runs(workspace or self._make(options["workspace"], options["owner"]), options["runs"])
        self.stdout.write(f"{options['runs']} runs are in the workspace '{options['workspace']}'.")

    @staticmethod
    def _make(slug: str, owner: str | None) -> Workspace:
        person = User.objects.filter(email=(owner or "").strip().lower()).first()
        if person is None:
            raise CommandError("--owner: name somebody who has an account, for a new workspace.")
        return create_workspace(actor=SYSTEM, name=f"Seeded {slug}", slug=slug, owner=person)
