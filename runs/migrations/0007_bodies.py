"""What bodies keep: names of checkpoints, artifacts, reuse; and what retention may take away."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

SQL = Path(__file__).resolve().parent.parent / "sql"


def payload_index(name: str, field: str) -> migrations.AddIndex:
    index = models.Index(fields=[field], name=name, condition=Q(**{f"{field}__isnull": False}))
    return migrations.AddIndex(model_name="steprun", index=index)


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_waits"), ("teams", "0001_initial")]
    operations = [
        migrations.AddField("steprun", "input_hash", models.BinaryField(null=True)),
        migrations.AddField("steprun", "reused_from", models.TextField(null=True)),
        migrations.AddIndex(
            model_name="steprun",
            index=models.Index(
                fields=["input_hash", "-finished_at"],
                name="step_run_reusable",
                condition=Q(input_hash__isnull=False, origin="executed", status="succeeded"),
            ),
        ),
        payload_index("step_run_output_ref", "output_ref"),
        payload_index("step_run_input_ref", "input_ref"),
        payload_index("step_run_items_ref", "items_ref"),
        migrations.AddIndex("payload", models.Index(fields=["touched_at"], name="payload_touched")),
        migrations.AddIndex("run", models.Index(fields=["run_day"], name="run_day")),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["finished_at"],
                name="run_finished",
                condition=Q(status__in=["succeeded", "failed", "cancelled"]),
            ),
        ),
        migrations.CreateModel(
            name="ArtifactFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.BinaryField()),
                ("size", models.BigIntegerField()),
                ("touched_at", models.DateTimeField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="teams.workspace"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["touched_at"], name="artifact_file_touched")],
                "constraints": [
                    models.UniqueConstraint(fields=["workspace", "sha256"], name="artifact_file_content"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempt", models.IntegerField()),
                ("fence", models.BigIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("media_type", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                (
                    "file",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="artifacts", to="runs.artifactfile"
                    ),
                ),
                (
                    "step_run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="runs.steprun",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["step_run", "attempt", "name"], name="artifact_name"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Retention",
            fields=[
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="retention",
                        serialize=False,
                        to="teams.workspace",
                    ),
                ),
                ("days", models.IntegerField(null=True)),
                ("changed_at", models.DateTimeField()),
                ("changed_by", models.CharField(max_length=150)),
            ],
        ),
        migrations.RunSQL((SQL / "0007_bodies.sql").read_text(), migrations.RunSQL.noop),
    ]
