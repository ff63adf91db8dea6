"""Sums by the hour for the overview, alerts, and the indexes that both ask by."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import kit.ids


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0018_invariants_by_run"),
        ("teams", "0002_audit_is_append_only"),
        ("workflows", "0002_versions_are_frozen"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AlertDelivery",
            fields=[
                ("id", models.UUIDField(default=kit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("status", models.CharField(max_length=16)),
                ("is_test", models.BooleanField(db_default=False)),
                ("fact_count", models.IntegerField()),
                ("attempts", models.IntegerField(db_default=0)),
                ("not_before", models.DateTimeField()),
                ("error", models.TextField(null=True)),
                ("created_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="AlertFact",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=16)),
                ("data", models.TextField()),
                ("at", models.DateTimeField()),
                ("found_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="AlertRule",
            fields=[
                ("id", models.UUIDField(default=kit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=100)),
                ("events", models.CharField(max_length=100)),
                ("channel", models.CharField(max_length=16)),
                ("recipients", models.TextField(default="[]")),
                ("connection", models.CharField(default="", max_length=100)),
                ("url", models.TextField(default="")),
                ("secret", models.TextField(null=True)),
                ("quiet_s", models.IntegerField()),
                ("no_worker_s", models.IntegerField()),
                ("is_enabled", models.BooleanField(default=True)),
                ("since", models.DateTimeField()),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("looked_to", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="RunHour",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workflow_id", models.UUIDField()),
                ("hour", models.DateTimeField()),
                ("open", models.IntegerField()),
                ("succeeded", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("cancelled", models.IntegerField()),
            ],
        ),
        migrations.AddIndex(
            model_name="firing",
            index=models.Index(
                condition=models.Q(("status__in", ["missed", "failed"])),
                fields=["trigger", "due_at"],
                name="firing_amiss",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["workspace", "created_at"], include=("workflow", "status", "finished_at"), name="run_measured"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("generation__gt", 1)), fields=["workspace", "created_at"], name="run_resumed"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(condition=models.Q(("status", "failed")), fields=["finished_at"], name="run_failed"),
        ),
        migrations.AddIndex(
            model_name="steprun",
            index=models.Index(
                condition=models.Q(("handled__isnull", True), ("status", "failed")),
                fields=["workspace_id", "finished_at"],
                name="step_run_failures",
            ),
        ),
        migrations.AddField(
            model_name="alertfact",
            name="delivery",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="facts", to="runs.alertdelivery"
            ),
        ),
        migrations.AddField(
            model_name="alertrule",
            name="created_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="alertrule",
            name="workflow",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="alert_rules",
                to="workflows.workflow",
            ),
        ),
        migrations.AddField(
            model_name="alertrule",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="alert_rules", to="teams.workspace"
            ),
        ),
        migrations.AddField(
            model_name="alertfact",
            name="rule",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="facts", to="runs.alertrule"
            ),
        ),
        migrations.AddField(
            model_name="alertdelivery",
            name="rule",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="runs.alertrule",
            ),
        ),
        migrations.AddField(
            model_name="runhour",
            name="workspace",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="teams.workspace"
            ),
        ),
        migrations.AddIndex(
            model_name="alertfact",
            index=models.Index(
                condition=models.Q(("delivery__isnull", True)), fields=["rule", "found_at"], name="alert_fact_new"
            ),
        ),
        migrations.AddConstraint(
            model_name="alertfact",
            constraint=models.UniqueConstraint(fields=("rule", "key"), name="alert_fact_once"),
        ),
        migrations.AddIndex(
            model_name="alertdelivery",
            index=models.Index(fields=["rule", "-created_at"], name="alert_delivery_newest"),
        ),
        migrations.AddIndex(
            model_name="alertdelivery",
            index=models.Index(
                condition=models.Q(("status", "waiting")), fields=["not_before"], name="alert_delivery_due"
            ),
        ),
        migrations.AddIndex(
            model_name="alertdelivery",
            index=models.Index(fields=["created_at"], name="alert_delivery_age"),
        ),
        migrations.AddIndex(
            model_name="runhour",
            index=models.Index(fields=["workflow_id", "hour"], name="run_hour_of_workflow"),
        ),
        migrations.AddConstraint(
            model_name="runhour",
            constraint=models.UniqueConstraint(fields=("workspace", "hour", "workflow_id"), name="run_hour_once"),
        ),
    ]
