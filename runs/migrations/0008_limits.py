"""Limits, rates, priorities, and the order in which step runs are claimed."""

from pathlib import Path

from django.db import migrations, models
from django.db.models import Q

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_bodies")]
    operations = [
        migrations.CreateModel(
            name="ClusterEpoch",
            fields=[
                ("epoch", models.BigAutoField(primary_key=True, serialize=False)),
                ("type", models.CharField(default="cluster.failover", max_length=32)),
                ("actor", models.CharField(max_length=150)),
                ("note", models.TextField(default="")),
                ("workers", models.IntegerField()),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("name", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("workspace_id", models.UUIDField(null=True)),
                ("at_most", models.IntegerField()),
                ("set_at", models.DateTimeField()),
                ("set_by", models.CharField(max_length=150)),
            ],
        ),
        migrations.CreateModel(
            name="LimitStart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["name", "at"], name="limit_start_by_name"),
                    models.Index(fields=["expires_at"], name="limit_start_expiry"),
                ]
            },
        ),
        migrations.AddField("worker", "kinds", models.TextField(default="", db_default="")),
        migrations.AddField("run", "begun_at", models.DateTimeField(null=True)),
        migrations.AddField("run", "limit_key", models.CharField(max_length=100, null=True)),
        migrations.AddField("run", "limit_at_most", models.IntegerField(null=True)),
        migrations.AddField("steprun", "workspace_id", models.UUIDField(null=True)),
        migrations.AddField("steprun", "limit_key", models.CharField(max_length=100, null=True)),
        migrations.AddField("steprun", "limit_at_most", models.IntegerField(null=True)),
        migrations.AddField("steprun", "rate_starts", models.IntegerField(null=True)),
        migrations.AddField("steprun", "rate_per_s", models.FloatField(null=True)),
        migrations.AddField("steprun", "held_by", models.CharField(max_length=200, null=True)),
        migrations.AddIndex(
            "run", models.Index(fields=["workspace"], name="run_begun", condition=Q(begun_at__isnull=False))
        ),
        migrations.AddIndex(
            "steprun",
            models.Index(
                fields=["held_by", "id"], name="step_run_held", condition=Q(status="ready", held_by__isnull=False)
            ),
        ),
        migrations.AddIndex(
            "steprun",
            models.Index(
                fields=["workspace_id", "limit_key"],
                name="step_run_limited",
                condition=Q(status="ready", limit_key__isnull=False),
            ),
        ),
        migrations.RemoveIndex("steprun", "step_run_ready"),
        migrations.RunSQL((SQL / "0008_limits.sql").read_text(), migrations.RunSQL.noop),
    ]
