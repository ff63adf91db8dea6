"""Runs inside runs: a run is paused with the run that waits for it."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).resolve().parent.parent / "sql" / "0011_family.sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_invariants")]
    operations = [
        migrations.AddField("run", "paused_by", models.CharField(max_length=8, null=True)),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
    ]
