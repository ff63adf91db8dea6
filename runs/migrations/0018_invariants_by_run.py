"""The invariants again: whether a step started too early is asked of one run without reading the others."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0017_pace2")]
    operations = [migrations.RunSQL((SQL / "invariants.sql").read_text(), migrations.RunSQL.noop)]
