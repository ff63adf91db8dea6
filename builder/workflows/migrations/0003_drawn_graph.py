"""A version keeps what was drawn where something else runs: disabled steps are passed through."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0002_versions_are_frozen")]
    operations = [
        migrations.AddField("version", "drawn_graph", models.TextField(blank=True, default="", db_default=""))
    ]
