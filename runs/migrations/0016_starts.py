"""The invariants again: whether a step started too early is asked of a large run in time that grows with its size."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0015_family_editions")]
    operations = [migrations.RunSQL((SQL / "invariants.sql").read_text(), migrations.RunSQL.noop)]
