"""Runs that repeat the effects of others: of which editions their later steps are, and those of runs inside them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0014_calm")]
    operations = [
        migrations.AddField("run", "effects_of_id", models.UUIDField(null=True)),
        migrations.AddField("run", "editions", models.TextField(null=True)),
    ]
