import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0003_recovery"),
        ("teams", "0002_audit_is_append_only"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField("run", "breakpoints", models.TextField(null=True)),
        migrations.AddField("run", "paused_at", models.TextField(null=True)),
        migrations.AddField("run", "deadline_s", models.FloatField(null=True)),
        migrations.AddField("run", "deadline_at", models.DateTimeField(null=True)),
        migrations.AddField("run", "error", models.TextField(null=True)),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["deadline_at"],
                name="run_deadline",
                condition=models.Q(deadline_at__isnull=False, status__in=["running", "paused"]),
            ),
        ),
        migrations.AddIndex(
            "steprun",
            models.Index(
                fields=["run"],
                name="step_run_asks",
                condition=models.Q(status__in=["waiting", "needs_decision", "blocked"]),
            ),
        ),
        migrations.CreateModel(
            "BulkOperation",
            [
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bulk_operations",
                        to="teams.workspace",
                    ),
                ),
                ("operation", models.CharField(max_length=32)),
                ("request", models.TextField()),
                ("status", models.CharField(default="running", max_length=16)),
                ("reason", models.TextField(null=True)),
                ("revision", models.IntegerField(default=1)),
                ("rate_per_s", models.FloatField(null=True)),
                ("canary", models.IntegerField(null=True)),
                ("canary_passed", models.BooleanField(default=False)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("actor", models.CharField(max_length=150)),
                ("total", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "-created_at"], name="bulk_newest"),
                    models.Index(condition=models.Q(("status", "running")), fields=["created_at"], name="bulk_running"),
                ],
            },
        ),
        migrations.CreateModel(
            "BulkRun",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "bulk",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="runs.bulkoperation",
                    ),
                ),
                ("run_id", models.UUIDField()),
                ("number", models.BigIntegerField()),
                ("position", models.IntegerField()),
                ("generation", models.IntegerField()),
                ("command_id", models.UUIDField()),
                ("status", models.CharField(default="pending", max_length=16)),
                ("code", models.CharField(max_length=64, null=True)),
                ("message", models.TextField(null=True)),
                ("result", models.TextField(null=True)),
                ("actor", models.CharField(max_length=150, null=True)),
                ("acted_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["bulk", "position"],
                        name="bulk_run_pending",
                    ),
                    models.Index(
                        condition=models.Q(("acted_at__isnull", False)),
                        fields=["bulk", "acted_at"],
                        name="bulk_run_acted",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("bulk", "position"), name="bulk_run_position"),
                    models.UniqueConstraint(fields=("bulk", "run_id"), name="bulk_run_once"),
                ],
            },
        ),
    ]
