"""manage.py sample_services: the sample's API, policy service, storage and mailbox in one process."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sample.services import serve
from sample.settings import http_address, sample_state, smtp_address


class Command(BaseCommand):
    help = "Serve the outside world of the sample workflow until stopped."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        http, smtp = http_address(), smtp_address()
        try:
            serve(sample_state(), http=http, smtp=smtp, say=self._say)
        except OSError as error:
            raise CommandError(
                f"The sample's servers cannot listen on {http} and {smtp}: {error}. "
                "Set PAWL_SAMPLE_HTTP and PAWL_SAMPLE_SMTP to free ports."
            ) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
