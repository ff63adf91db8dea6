"""A trigger says with which priority, limit and deadline its runs start. Sweepers of before start them without."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0012_outside")]
    operations = [
        migrations.AddField("trigger", "priority", models.SmallIntegerField(default=0, db_default=0)),
        migrations.AddField("trigger", "limit_key", models.CharField(max_length=100, null=True)),
        migrations.AddField("trigger", "limit_at_most", models.IntegerField(null=True)),
        migrations.AddField("trigger", "deadline_s", models.FloatField(null=True)),
    ]
