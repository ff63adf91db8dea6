"""Idle looks that cost the same however much waits; turns of workspaces in the outbox."""

from uuid import UUID

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0013_doors")]

    operations = [
        migrations.AddField("outbox", "workspace_id", models.UUIDField(db_default=UUID(int=0))),
        migrations.AddIndex("outbox", models.Index(fields=["workspace_id", "id"], name="outbox_turn")),
        migrations.AddIndex(
            "steprun",
            models.Index(
                fields=["not_before"],
                name="step_run_timed",
                condition=models.Q(
                    ("status", "retry_wait"), models.Q(("status", "waiting"), ("wait_kind", "timer")), _connector="OR"
                ),
            ),
        ),
    ]
