import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import kit.ids


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0008_limits"),
        ("teams", "0002_audit_is_append_only"),
        ("workflows", "0002_versions_are_frozen"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Firing",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=200)),
                ("status", models.CharField(max_length=16)),
                ("reason", models.TextField(null=True)),
                ("detail", models.TextField(null=True)),
                ("due_at", models.DateTimeField()),
                ("is_backfill", models.BooleanField(db_default=False)),
                ("run_id", models.UUIDField(null=True)),
                ("source_run_id", models.UUIDField(null=True)),
                ("digest", models.BinaryField(null=True)),
                ("signature", models.BinaryField(null=True)),
                ("created_at", models.DateTimeField()),
                ("fired_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Trigger",
            fields=[
                ("id", models.UUIDField(default=kit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("name", models.CharField(max_length=100)),
                ("is_enabled", models.BooleanField(default=True)),
                ("settings", models.TextField()),
                ("secret", models.TextField(null=True)),
                ("path", models.CharField(max_length=64, null=True, unique=True)),
                ("ends", models.CharField(default="", max_length=64)),
                ("overlap", models.CharField(default="", max_length=16)),
                ("decided_to", models.DateTimeField(null=True)),
                ("next_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="run",
            name="trigger_depth",
            field=models.SmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="trigger_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status__in", ["running", "paused", "cancelling"]), ("trigger_id__isnull", False)),
                fields=["trigger_id"],
                name="run_open_of_trigger",
            ),
        ),
        migrations.AddField(
            model_name="trigger",
            name="created_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="trigger",
            name="source",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workflows.workflow",
            ),
        ),
        migrations.AddField(
            model_name="trigger",
            name="workflow",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="triggers", to="workflows.workflow"
            ),
        ),
        migrations.AddField(
            model_name="trigger",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="triggers", to="teams.workspace"
            ),
        ),
        migrations.AddField(
            model_name="firing",
            name="trigger",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="firings",
                to="runs.trigger",
            ),
        ),
        migrations.AddIndex(
            model_name="trigger",
            index=models.Index(condition=models.Q(("next_at__isnull", False)), fields=["next_at"], name="trigger_due"),
        ),
        migrations.AddIndex(
            model_name="trigger",
            index=models.Index(
                condition=models.Q(("is_enabled", True), ("source__isnull", False)),
                fields=["source"],
                name="trigger_source",
            ),
        ),
        migrations.AddIndex(
            model_name="firing",
            index=models.Index(fields=["trigger", "-due_at", "-id"], name="firing_newest"),
        ),
        migrations.AddIndex(
            model_name="firing",
            index=models.Index(
                condition=models.Q(("status", "queued")), fields=["trigger", "due_at", "id"], name="firing_queued"
            ),
        ),
        migrations.AddIndex(
            model_name="firing",
            index=models.Index(fields=["trigger", "created_at"], name="firing_rate"),
        ),
        migrations.AddIndex(
            model_name="firing",
            index=models.Index(fields=["created_at"], name="firing_age"),
        ),
        migrations.AddConstraint(
            model_name="firing",
            constraint=models.UniqueConstraint(fields=("trigger", "key"), name="firing_once"),
        ),
        migrations.AddConstraint(
            model_name="firing",
            constraint=models.UniqueConstraint(
                condition=models.Q(("signature__isnull", False)),
                fields=("trigger", "signature"),
                name="firing_signature",
            ),
        ),
    ]
