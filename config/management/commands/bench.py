"""manage.py bench: measure Pawl on this machine. Run by `make bench`, on servers and a state folder of its own."""

from importlib import import_module
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", default="", help="parts, divided by commas; the others are left out as null")
        parser.add_argument("--write-docs", action="store_true", help="put the figures into docs/benchmarks.md")

    def handle(self, **options: Any) -> None:
        try:
            bench = import_module("tests.bench.command")  # by name: an installed Pawl comes without tests/
        except ModuleNotFoundError as error:
            raise CommandError(f"The bench runs from a checkout, beside its tests/ folder: {error}.") from error
        parts = [part for part in options["only"].split(",") if part] or bench.PARTS
        if unknown := sorted(set(parts) - set(bench.PARTS)):
            raise CommandError(f"There is no part {unknown[0]!r}; there are: {', '.join(bench.PARTS)}.")
        found = bench.run(parts=parts, say=self._say)
        if options["write_docs"]:
            bench.report.write_docs(found)
        self.stdout.write(f"{bench.report.table(found)}\n\n{bench.report.line(found)}")

    def _say(self, text: str) -> None:
        self.stderr.write(f"==> {text}")
