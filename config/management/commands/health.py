"""manage.py health [database|redis|workers|sweeper ...]: exit code 1 where one of them is not well. For containers."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from config import health

PARTS = ("database", "redis", "workers", "sweeper")


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("parts", nargs="*", choices=PARTS, default=PARTS, metavar="part")

    def handle(self, **options: Any) -> None:
        found = health.report()
        for part in options["parts"]:
            self.stdout.write(f"{part}: {found[part]['detail']}")
        ill = [part for part in options["parts"] if not found[part]["ok"]]
        if ill:
            raise CommandError(f"not well: {', '.join(ill)}")
