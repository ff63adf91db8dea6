"""Partitioned tables, the guards of P1 and P6, and the compare-and-set function."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "0002_partitions_and_guards.sql").read_text(), migrations.RunSQL.noop),
    ]
