"""manage.py write_docs: write the parts of docs/ that are made from the code. Run by `make docs`."""

from typing import Any

from django.core.management import BaseCommand

from config import docs


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        for path, wanted in docs.pages().items():
            if not path.exists() or path.read_text() != wanted:
                path.write_text(wanted)
                self.stdout.write(f"Wrote docs/{path.name}")
