from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_recovery")]
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
    ]
