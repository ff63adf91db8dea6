"""manage.py screenshots: take the pictures of README and docs. Run by `make screenshots`, on servers of its own."""

from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        default = Path(settings.BASE_DIR) / "docs" / "pictures"
        parser.add_argument("--to", type=Path, default=default, help="a folder; what is in it is replaced")

    def handle(self, **options: Any) -> None:
        try:
            pictures = import_module("tests.e2e.pictures")  # by name: an installed Pawl comes without tests/
        except ModuleNotFoundError as error:
            raise CommandError(f"Pictures are taken from a checkout, beside its tests/ folder: {error}.") from error
        pictures.take_all(folder=options["to"], say=self._say)

    def _say(self, text: str) -> None:
        self.stderr.write(f"==> {text}")
