"""manage.py raise_cluster_epoch: after a failover, before anything is let in again (docs/operating.md)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runs.engine.epoch import raise_epoch
from runs.link import Link
from runs.models import ClusterEpoch


class Command(BaseCommand):
    help = "Makes every worker id of before now invalid: after a failover that may have lost commits."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--note", default="", help="what happened, for whoever reads the list later")
        parser.add_argument("--list", action="store_true", help="show the epochs, and raise none")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for each in ClusterEpoch.objects.order_by("epoch"):
                print(
                    f"{each.epoch} {each.type} {each.at:%Y-%m-%d %H:%M:%S} {each.workers} workers {each.note}".rstrip()
                )
            return
        link = Link(name="raise_cluster_epoch")
        try:
            raised = raise_epoch(link.connection, actor="manage.py raise_cluster_epoch", note=options["note"])
        finally:
            link.close()
        print(f"Cluster epoch {raised.epoch}: {raised.workers} workers of before are invalid.")
