"""Settings that a person gave a step, and forks: which run and step run a copy comes from, whose effects it repeats."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_partitions_and_guards")]
    operations = [
        migrations.AddField("steprun", "override", models.TextField(null=True)),
        migrations.AddField("steprun", "override_ref", models.BinaryField(null=True)),
        migrations.AddField(
            "steprun",
            "source",
            models.ForeignKey(
                "runs.steprun",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="copies",
                db_index=False,
            ),
        ),
        migrations.AddIndex(
            "steprun", models.Index(fields=["source"], name="step_run_copies", condition=Q(source__isnull=False))
        ),
        migrations.AddIndex(
            "steprun",
            models.Index(
                fields=["override_ref"], name="step_run_override_ref", condition=Q(override_ref__isnull=False)
            ),
        ),
        migrations.AddField(
            "run",
            "forked_from",
            models.ForeignKey(
                "runs.run", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="forks", db_index=False
            ),
        ),
        migrations.AddField("run", "key_root", models.UUIDField(null=True)),
        migrations.AddIndex(
            "run", models.Index(fields=["forked_from"], name="run_forks", condition=Q(forked_from__isnull=False))
        ),
    ]
