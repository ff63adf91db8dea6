"""manage.py reseal_connections: seal every connection with the newest key, so that older ones can be taken away.

To change keys: put the new one first in PAWL_ENCRYPTION_KEYS, restart, run this, then remove the old one.
"""

from typing import Any

from django.core.management import BaseCommand, CommandError

from builder.connections.errors import ConnectionUnreadable
from builder.connections.services import reseal_all
from teams.access import SYSTEM


class Command(BaseCommand):
    help = __doc__

    def handle(self, **options: Any) -> None:
        try:
            count = reseal_all(actor=SYSTEM)
        except ConnectionUnreadable as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{count} connections are sealed with the newest key")
