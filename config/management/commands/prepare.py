"""manage.py prepare: bring database, demo and static files up to the code. Repeating it changes nothing."""

from typing import Any

from django.core.management import BaseCommand, call_command, get_commands


class Command(BaseCommand):
    help = __doc__

    def handle(self, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        if "seed_demo" in get_commands():
            call_command("seed_demo")
        call_command("collectstatic", interactive=False, verbosity=0)
