"""Labels, failures by fingerprint, saved views; the lists' indexes. A worker of before writes none of it, and needs none."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import kit.ids

SQL = Path(__file__).resolve().parent.parent / "sql"
FORGET = "DROP TRIGGER forget_beside ON runs_run; DROP FUNCTION pawl_forget_beside()"


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0019_overview"),
        ("teams", "0002_audit_is_append_only"),
        ("workflows", "0002_versions_are_frozen"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FailureGroup",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("fingerprint", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=64)),
                ("code", models.CharField(max_length=100)),
                ("pattern", models.TextField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("seen_count", models.BigIntegerField()),
                ("state", models.CharField(db_default="open", default="open", max_length=16)),
                ("state_by", models.CharField(db_default="", default="", max_length=150)),
                ("state_at", models.DateTimeField(null=True)),
                ("note", models.CharField(db_default="", default="", max_length=500)),
            ],
        ),
        migrations.CreateModel(
            name="RunFailure",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("run_id", models.UUIDField()),
                ("generation", models.IntegerField()),
                ("number", models.BigIntegerField()),
                ("workflow_id", models.UUIDField()),
                ("version", models.IntegerField()),
                ("path", models.TextField()),
                ("step_key", models.CharField(max_length=100)),
                ("kind", models.CharField(max_length=64)),
                ("code", models.CharField(max_length=100)),
                ("message", models.TextField()),
                ("fingerprint", models.CharField(max_length=16)),
                ("failed_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="RunLabel",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("run_id", models.UUIDField()),
                ("number", models.BigIntegerField()),
                ("label", models.CharField(max_length=50)),
                ("added_by", models.CharField(max_length=150)),
                ("added_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.UUIDField(default=kit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(max_length=2000)),
                ("is_shared", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="failuregroup",
            name="workspace",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="teams.workspace"
            ),
        ),
        migrations.AddField(
            model_name="runfailure",
            name="workspace",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="teams.workspace"
            ),
        ),
        migrations.AddField(
            model_name="runlabel",
            name="workspace",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="teams.workspace"
            ),
        ),
        migrations.AddField(
            model_name="savedview",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="savedview",
            name="workspace",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="teams.workspace"
            ),
        ),
        migrations.AddIndex(
            model_name="failuregroup",
            index=models.Index(fields=["workspace", "-last_at", "-id"], name="failure_group_newest"),
        ),
        migrations.AddConstraint(
            model_name="failuregroup",
            constraint=models.UniqueConstraint(fields=("workspace", "fingerprint"), name="failure_group_once"),
        ),
        migrations.AddIndex(
            model_name="runfailure",
            index=models.Index(fields=["workspace", "-number"], name="failure_newest"),
        ),
        migrations.AddIndex(
            model_name="runfailure",
            index=models.Index(fields=["workspace", "fingerprint", "-number"], name="failure_of_group"),
        ),
        migrations.AddIndex(
            model_name="runfailure",
            index=models.Index(fields=["workspace", "step_key", "-number"], name="failure_of_step"),
        ),
        migrations.AddIndex(
            model_name="runfailure",
            index=models.Index(fields=["failed_at"], name="failure_latest"),
        ),
        migrations.AddConstraint(
            model_name="runfailure",
            constraint=models.UniqueConstraint(fields=("run_id", "generation"), name="failure_once"),
        ),
        migrations.AddIndex(
            model_name="runlabel",
            index=models.Index(fields=["workspace", "label", "-number"], name="run_label_newest"),
        ),
        migrations.AddConstraint(
            model_name="runlabel",
            constraint=models.UniqueConstraint(fields=("run_id", "label"), name="run_label_once"),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(fields=("workspace", "owner", "name"), name="saved_view_once"),
        ),
        migrations.RunSQL((SQL / "0020_lists.sql").read_text(), FORGET),
    ]
