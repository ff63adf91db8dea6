from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_run_control")]
    operations = [
        migrations.AddField(
            model_name="steprun", name="item_tolerated", field=models.IntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="steprun",
            name="item_mode",
            field=models.CharField(db_default="each", default="each", max_length=8),
        ),
        migrations.AddField(
            model_name="steprun",
            name="item_gather",
            field=models.CharField(db_default="list", default="list", max_length=8),
        ),
        migrations.AddField(model_name="run", name="parent_run_id", field=models.UUIDField(null=True)),
        migrations.AddField(model_name="run", name="parent_step_id", field=models.BigIntegerField(null=True)),
        migrations.AddField(model_name="run", name="root_id", field=models.UUIDField(null=True)),
        migrations.AddField(model_name="run", name="depth", field=models.SmallIntegerField(db_default=0, default=0)),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["parent_step_id"],
                name="run_of_step",
                condition=models.Q(("parent_step_id__isnull", False)),
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["parent_run_id"],
                name="run_children",
                condition=models.Q(("parent_run_id__isnull", False)),
            ),
        ),
        migrations.CreateModel(
            name="Outbox",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("run_id", models.UUIDField()),
                ("step_run_id", models.BigIntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("data", models.TextField(default="{}")),
                ("not_before", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["step_run_id", "id"], name="outbox_of_step")]},
        ),
    ]
