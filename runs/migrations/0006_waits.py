import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_flow"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.CreateModel(
            name="Callback",
            fields=[
                ("token_hash", models.BinaryField(primary_key=True, serialize=False)),
                ("round", models.IntegerField()),
                ("issued_at", models.DateTimeField()),
                ("received_at", models.DateTimeField(null=True)),
                ("used_at", models.DateTimeField(null=True)),
                ("body", models.TextField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("voter", models.CharField(max_length=150)),
                ("name", models.CharField(max_length=150)),
                ("decision", models.CharField(max_length=16)),
                ("comment", models.TextField(default="")),
                ("shown_hash", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="command",
            name="user",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="steprun",
            name="queue_limit_s",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="steprun",
            name="queue_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="steprun",
            name="total_limit_s",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="steprun",
            name="total_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="steprun",
            index=models.Index(
                condition=models.Q(("queue_until__isnull", False), ("status", "ready")),
                fields=["queue_until"],
                name="step_run_queue_limit",
            ),
        ),
        migrations.AddIndex(
            model_name="steprun",
            index=models.Index(
                condition=models.Q(("status__in", ["ready", "retry_wait", "waiting"]), ("total_until__isnull", False)),
                fields=["total_until"],
                name="step_run_total_limit",
            ),
        ),
        migrations.AddField(
            model_name="callback",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="callbacks", to="runs.run"
            ),
        ),
        migrations.AddField(
            model_name="callback",
            name="step_run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="callbacks", to="runs.steprun"
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="user",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="wait",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="runs.wait"
            ),
        ),
        migrations.AddIndex(
            model_name="callback",
            index=models.Index(
                condition=models.Q(("received_at__isnull", False), ("used_at__isnull", True)),
                fields=["step_run", "round"],
                name="callback_early",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(fields=("wait", "voter"), name="vote_once"),
        ),
    ]
