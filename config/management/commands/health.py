"""manage.py health [part ...]: exit code 1 where one of them is not well. For containers."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from config import health

PARTS = ("database", "redis", "workers", "sweeper", "transactions", "late_zombie_effects")


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))

    def handle(self, **options: Any) -> None:
        wanted = options["parts"] or PARTS
        unknown = [part for part in wanted if part not in PARTS]
        if unknown:
            raise CommandError(f"There is no part '{unknown[0]}'; there are: {', '.join(PARTS)}.")
        found = health.report()
        for part in wanted:
            self.stdout.write(f"{part}: {found[part]['detail']}")
        ill = [part for part in wanted if not found[part]["ok"]]
        if ill:
            raise CommandError(f"not well: {', '.join(ill)}")
