"""manage.py seed_demo: the demo's user, workspace, connections and workflows. Repeating it changes nothing."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from sample.seed import seed_demo


class Command(BaseCommand):
    help = (
        "Make the demo workspace. PAWL_DEMO_PASSWORD becomes the demo user's password where there is no such user yet."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO_PASSWORD:
            raise CommandError(
                "PAWL_DEMO_PASSWORD is not set: give the password that the demo's user should sign in with."
            )
        seed_demo(password=settings.DEMO_PASSWORD, say=self.stdout.write)
