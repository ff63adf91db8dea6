"""The invariants as views. They name many columns, so they come last."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0009_triggers")]
    operations = [migrations.RunSQL((SQL / "invariants.sql").read_text(), migrations.RunSQL.noop)]
